-- Claims an assertion; see bankrail_client_assertion::ReplayStore. Instants in milliseconds, integers below 2^53.
-- KEYS[1]  who claimed it: "expires owner", absent while it is free
-- ARGV     now, expires, owner, milliseconds to keep the key
-- returns  1 to the first claim, 0 to other claims until `expires` of the first has passed
local stored = redis.call('GET', KEYS[1])
if stored then
  local expires, owner = string.match(stored, '^(%-?%d+) (%x+)$')
  if not expires then return redis.error_reply('UNREADABLE claim') end
  -- The same call, repeated by a connection that lost the answer.
  if owner == ARGV[3] then return 1 end
  if tonumber(expires) >= tonumber(ARGV[1]) then return 0 end
end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return 1
