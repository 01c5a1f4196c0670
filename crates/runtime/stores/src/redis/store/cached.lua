-- Removes a customer's token if it is still this one; see bankrail_client_assertion::token::TokenCache.
-- KEYS[1]  the token: its expiry in milliseconds, a space, its sealed bytes
-- ARGV     the sealed bytes
-- returns  1 if it was removed
local stored = redis.call('GET', KEYS[1])
if not stored then return 0 end
local space = string.find(stored, ' ', 1, true)
if not space then return redis.error_reply('UNREADABLE cached token') end
if string.sub(stored, space + 1) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
