-- The imported entries of an account; see bankrail_statement::SeenEntries. A day is the number YYYYMMDD.
-- KEYS[1]  hash: of each key "occurrence day", or "occurrence " if it has no day; and the account's position under the
--          name "position", which is no key: keys have 32 bytes
-- KEYS[2]  sorted set: the keys that have a day, by day
-- While their slot moves in a cluster, a node that does not have both answers TRYAGAIN before the script begins.
-- ARGV     the operation, then its arguments
local days = KEYS[2]

-- The highest occurrence and its day; nil if unreadable.
local function read(stored)
  local occurrence, day = string.match(stored, '^(%d+) (%d*)$')
  return tonumber(occurrence), tonumber(day)
end
local function text(number) return string.format('%.0f', number) end
local function unreadable() return redis.error_reply('UNREADABLE seen entry') end

-- keys; one HGET each, because Lua passes a few thousand arguments at most
if ARGV[1] == 'counts' then
  local counts = {}
  for at = 2, #ARGV do
    local stored, occurrence = redis.call('HGET', KEYS[1], ARGV[at]), 0
    if stored then occurrence = read(stored) end
    if not occurrence then return unreadable() end
    counts[at - 1] = occurrence
  end
  return counts
end

-- the maximum number of keys; milliseconds after which an idle account is dropped, or ""; "at" and the position that the
-- account must have, or "none" and "" if it must have none, or twice ""; "1" and the position that replaces it, or twice
-- ""; then key, occurrence and day or "" of each entry
-- returns 1; 0 if there is no room and 2 if the account has another position, and then does nothing
if ARGV[1] == 'record' then
  local most, idle = tonumber(ARGV[2]), ARGV[3]
  if ARGV[4] ~= '' and redis.call('HGET', KEYS[1], 'position') ~= (ARGV[4] == 'at' and ARGV[5]) then return 2 end
  local known, changed, new = {}, {}, 0
  for at = 8, #ARGV, 3 do
    local key, occurrence, day = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local entry = known[key]
    if not entry then
      local stored = redis.call('HGET', KEYS[1], key)
      if stored then
        local before, its_day = read(stored)
        if not before then return unreadable() end
        entry = {occurrence = before, day = its_day}
      else
        entry = {occurrence = 0, day = day}
        new = new + 1
      end
      known[key] = entry
    end
    if occurrence > entry.occurrence then
      entry.occurrence = occurrence
      -- The later of two days is kept. An entry without a day stays without one: it is never forgotten.
      entry.day = entry.day and day and math.max(entry.day, day)
      if not entry.changed then changed[#changed + 1] = key end
      entry.changed = true
    end
  end
  if new > 0 and redis.call('HLEN', KEYS[1]) - redis.call('HEXISTS', KEYS[1], 'position') + new > most then return 0 end
  -- The write that a full server refuses comes first: it does not stop a script that has written.
  if ARGV[6] == '1' then redis.call('HSET', KEYS[1], 'position', ARGV[7]) end
  for _, key in ipairs(changed) do
    local entry = known[key]
    redis.call('HSET', KEYS[1], key, text(entry.occurrence) .. ' ' .. (entry.day and text(entry.day) or ''))
    if entry.day then redis.call('ZADD', days, text(entry.day), key) else redis.call('ZREM', days, key) end
  end
  for _, name in ipairs({KEYS[1], days}) do
    if idle == '' then redis.call('PERSIST', name) else redis.call('PEXPIRE', name, idle) end
  end
  return 1
end

if ARGV[1] == 'position' then return redis.call('HGET', KEYS[1], 'position') end

-- the day, the maximum number; returns how many were forgotten
if ARGV[1] == 'forget' then
  local keys = redis.call('ZRANGEBYSCORE', days, '-inf', '(' .. ARGV[2], 'LIMIT', 0, ARGV[3])
  for _, key in ipairs(keys) do
    redis.call('HDEL', KEYS[1], key)
    redis.call('ZREM', days, key)
  end
  return #keys
end

return redis.error_reply('ERR no such operation')
