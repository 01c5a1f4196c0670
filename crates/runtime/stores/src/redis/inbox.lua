-- An inbox; see bankrail_mailbox::Inbox. `receive` decides like bankrail_mailbox::ReceiveDecision::of; the suite of all
-- inboxes compares them over random histories. All integers are below 2^53, instants are in milliseconds.
-- KEYS[1]  the prefix P; its hash tag puts all keys of the script into one slot:
--          P:next            the last number given
--          P:entry:ID        hash of an entry; `owner` and `until` are present while it is leased
--          P:key:HASH        sorted set of the entries that have this duplicate key, by number
--          P:waiting         sorted set of pending entries, by the time from which a worker may lease them
--          P:ready:KIND      sorted set of pending entries that were found due, by number
--          P:leased          set of the pending entries that have an owner
--          P:completed       sorted set, by the time of completion
--          P:dead            sorted set of the dead letters, by number
--          P:kinds           set of the kinds of all messages received so far
-- KEYS[2]  P:absent, which never exists. While a node gives the slot away or takes it over, it answers TRYAGAIN for two
--          keys that are not both there, before the script begins. A script with only part of the keys would store and
--          lease twice.
-- ARGV     the operation, now, then its arguments
local P, op, now = KEYS[1], ARGV[1], tonumber(ARGV[2])

local FIELDS = {'id', 'kind', 'attributes', 'body', 'acknowledgement', 'received', 'conflicts_with', 'follows',
  'state', 'attempts', 'last_error'}

local function text(number) return string.format('%.0f', number) end
local function entry(id) return P .. ':entry:' .. id end
local function field(id, name) return redis.call('HGET', entry(id), name) end
-- An entry is lost only if it was deleted by hand or evicted by a full server. No operation may fail at it.
local function is_lost(id) return redis.call('EXISTS', entry(id)) == 0 end
local function number(id, name) return tonumber(field(id, name) or nil) end
local function ready(id) return P .. ':ready:' .. field(id, 'kind') end
local function read(id) return redis.call('HMGET', entry(id), unpack(FIELDS)) end

-- Files a pending entry under its time.
local function wait(id)
  local at = math.max(number(id, 'due'), number(id, 'until') or -math.huge)
  redis.call('ZREM', ready(id), id)
  redis.call('ZADD', P .. ':waiting', text(at), id)
end

-- The interim message that an entry follows is still to be handled.
local function is_held(id)
  local follows = field(id, 'follows')
  return follows and field(follows, 'state') == 'pending'
end

local function is_free(id)
  local until_ = number(id, 'until')
  return not until_ or until_ <= now
end

local function end_lease(id)
  redis.call('HDEL', entry(id), 'owner', 'until')
  redis.call('SREM', P .. ':leased', id)
end

local function forget(before, most)
  local ids = redis.call('ZRANGEBYSCORE', P .. ':completed', '-inf', '(' .. before, 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    for key in string.gmatch(field(id, 'keys') or '', '%x+') do redis.call('ZREM', P .. ':key:' .. key, id) end
    redis.call('DEL', entry(id))
    redis.call('ZREM', P .. ':completed', id)
  end
  return #ids
end

-- Outcome, number, acknowledgement, number of the entry in conflict.
local function outcome(word, id) return {word, id, field(id, 'acknowledgement'), field(id, 'conflicts_with')} end

-- before which completed entries are forgotten or "", duplicate keys, fingerprints of 32 bytes each (the message's own,
-- then those of other spellings), then names and values of the fields that the message brings; the first is `interim`,
-- 1 or 0
if op == 'receive' then
  local before, keys, fingerprints = ARGV[3], ARGV[4], ARGV[5]
  local is_same = {}
  for at = 1, #fingerprints, 32 do is_same[string.sub(fingerprints, at, at + 31)] = true end
  if before ~= '' then forget(before, 8) end
  local known, seen = {}, {}
  for key in string.gmatch(keys, '%x+') do
    for _, id in ipairs(redis.call('ZRANGE', P .. ':key:' .. key, 0, -1)) do
      if is_lost(id) then
        redis.call('ZREM', P .. ':key:' .. key, id)
      elseif not seen[id] then
        known[#known + 1] = id
      end
      seen[id] = true
    end
  end
  table.sort(known, function(a, b) return tonumber(a) < tonumber(b) end)
  for _, id in ipairs(known) do
    if is_same[field(id, 'fingerprint')] then
      return outcome(field(id, 'state') == 'pending' and 'in_progress' or 'duplicate', id)
    end
  end
  local interim, conflicts_with, follows, followed_by = ARGV[7], nil, nil, nil
  for _, other in ipairs(known) do
    if (field(other, 'interim') or '0') == interim then
      conflicts_with = conflicts_with or other
    elseif not field(other, 'conflicts_with') then
      if interim == '0' then
        follows = follows or other
      elseif field(other, 'state') ~= 'completed' then
        followed_by = followed_by or other
      end
    end
  end
  local id = text(redis.call('INCR', P .. ':next'))
  redis.call('HSET', entry(id), 'id', id, 'keys', keys, 'fingerprint', string.sub(fingerprints, 1, 32),
    'state', 'pending', 'received', text(now), 'due', text(now), 'attempts', 0, unpack(ARGV, 6))
  redis.call('SADD', P .. ':kinds', field(id, 'kind'))
  if conflicts_with then
    redis.call('HSET', entry(id), 'conflicts_with', conflicts_with)
  else
    if follows then redis.call('HSET', entry(id), 'follows', follows) end
    if followed_by then redis.call('HSET', entry(followed_by), 'follows', id) end
  end
  for key in string.gmatch(keys, '%x+') do redis.call('ZADD', P .. ':key:' .. key, id, id) end
  redis.call('ZADD', ready(id), id, id)
  return outcome(conflicts_with and 'conflict' or 'new', id)
end

-- limit, owner, until, then kinds; no kinds: all
if op == 'lease' then
  local limit, owner, until_ = tonumber(ARGV[3]), ARGV[4], ARGV[5]
  -- If more come due at once, later calls make the rest ready.
  local most = math.max(limit, 1000)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', P .. ':waiting', '-inf', text(now), 'LIMIT', 0, most)) do
    redis.call('ZREM', P .. ':waiting', id)
    if not is_lost(id) then redis.call('ZADD', ready(id), id, id) end
  end
  local found, kinds = {}, {unpack(ARGV, 6)}
  if #kinds == 0 then kinds = redis.call('SMEMBERS', P .. ':kinds') end
  for _, kind in ipairs(kinds) do
    local key, from, left, lost = P .. ':ready:' .. kind, 0, limit, {}
    while left > 0 do
      local ids = redis.call('ZRANGE', key, from, from + left - 1)
      if #ids == 0 then break end
      from = from + #ids
      for _, id in ipairs(ids) do
        if is_lost(id) then
          lost[#lost + 1] = id
        -- The times fail only after a clock was set back. One that was never leased was due when it came.
        elseif (number(id, 'due') <= now or field(id, 'attempts') == '0') and is_free(id) and not is_held(id) then
          found[#found + 1] = id
          left = left - 1
        end
      end
    end
    for _, id in ipairs(lost) do redis.call('ZREM', key, id) end
  end
  table.sort(found, function(a, b) return tonumber(a) < tonumber(b) end)
  local entries = {}
  for at = 1, math.min(limit, #found) do
    redis.call('HSET', entry(found[at]), 'owner', owner, 'until', until_)
    redis.call('HINCRBY', entry(found[at]), 'attempts', 1)
    redis.call('SADD', P .. ':leased', found[at])
    wait(found[at])
    entries[at] = read(found[at])
  end
  return entries
end

-- number, owner, state from now on, due from now on or "" for as before, until from now on or "" for the end of the
-- lease, then an error if there is one
if op == 'update' then
  local id, owner, state, due, until_, said = ARGV[3], ARGV[4], ARGV[5], ARGV[6], ARGV[7], ARGV[8]
  if field(id, 'owner') ~= owner then return 0 end
  redis.call('HSET', entry(id), 'state', state)
  if due ~= '' then redis.call('HSET', entry(id), 'due', due) end
  if said then redis.call('HSET', entry(id), 'last_error', said) end
  if until_ ~= '' then
    redis.call('HSET', entry(id), 'until', until_)
  else
    end_lease(id)
  end
  if state == 'pending' then
    wait(id)
    return 1
  end
  redis.call('ZREM', P .. ':waiting', id)
  redis.call('ZREM', ready(id), id)
  if state == 'completed' then
    redis.call('ZADD', P .. ':completed', text(now), id)
  else
    redis.call('ZADD', P .. ':dead', id, id)
  end
  return 1
end

-- owners of 16 bytes each
if op == 'release_all' then
  local owners, is_given_back, released = ARGV[3], {}, 0
  for at = 1, #owners, 16 do is_given_back[string.sub(owners, at, at + 15)] = true end
  for _, id in ipairs(redis.call('SMEMBERS', P .. ':leased')) do
    local owner = field(id, 'owner')
    -- It has none if it was lost, or if an earlier version has ended its lease.
    if not owner then
      redis.call('SREM', P .. ':leased', id)
    elseif is_given_back[owner] then
      end_lease(id)
      local attempts = number(id, 'attempts')
      if attempts > 0 then redis.call('HINCRBY', entry(id), 'attempts', -1) end
      wait(id)
      -- Never tried, and ready as when it was received.
      if attempts < 2 then
        redis.call('ZREM', P .. ':waiting', id)
        redis.call('ZADD', ready(id), id, id)
      end
      released = released + 1
    end
  end
  return released
end

-- the latest instant that is believed
if op == 'recall' then
  local latest, waiting = tonumber(ARGV[3]), P .. ':waiting'
  local ids = redis.call('ZRANGEBYSCORE', waiting, '(' .. ARGV[3], '+inf', 'LIMIT', 0, 1000)
  for _, id in ipairs(ids) do
    redis.call('ZREM', waiting, id)
    if not is_lost(id) then
      if number(id, 'due') > latest then redis.call('HSET', entry(id), 'due', text(now)) end
      if not is_free(id) and number(id, 'until') > latest then end_lease(id) end
      wait(id)
    end
  end
  return #ids
end

-- number
if op == 'resend' then
  local id = ARGV[3]
  if field(id, 'state') ~= 'dead_letter' then return 0 end
  redis.call('HSET', entry(id), 'state', 'pending', 'due', text(now), 'attempts', 0)
  redis.call('ZREM', P .. ':dead', id)
  redis.call('ZADD', ready(id), id, id)
  return 1
end

-- the time, the maximum number
if op == 'forget' then return forget(ARGV[3], ARGV[4]) end

-- the number before the first, the maximum number
if op == 'dead_letters' then
  local entries, after, most = {}, ARGV[3], tonumber(ARGV[4])
  while #entries < most do
    local ids = redis.call('ZRANGEBYSCORE', P .. ':dead', '(' .. after, '+inf', 'LIMIT', 0, text(most - #entries))
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      after = id
      if is_lost(id) then redis.call('ZREM', P .. ':dead', id) else entries[#entries + 1] = read(id) end
    end
  end
  return entries
end

-- number
if op == 'find' then
  if redis.call('EXISTS', entry(ARGV[3])) == 0 then return {} end
  return {read(ARGV[3])}
end

if op == 'counts' then
  local pending = redis.call('ZCARD', P .. ':waiting')
  for _, kind in ipairs(redis.call('SMEMBERS', P .. ':kinds')) do
    pending = pending + redis.call('ZCARD', P .. ':ready:' .. kind)
  end
  return {pending, redis.call('ZCARD', P .. ':completed'), redis.call('ZCARD', P .. ':dead')}
end

-- Of the waiting entries only the first thousand, because the script keeps everybody else waiting.
if op == 'oldest' then
  local first
  local function consider(ids)
    for _, id in ipairs(ids) do
      if not is_lost(id) and (not first or tonumber(id) < tonumber(first)) then first = id end
    end
  end
  consider(redis.call('ZRANGE', P .. ':waiting', 0, 999))
  for _, kind in ipairs(redis.call('SMEMBERS', P .. ':kinds')) do
    consider(redis.call('ZRANGE', P .. ':ready:' .. kind, 0, 0))
  end
  return first and field(first, 'received')
end

return redis.error_reply('ERR no such operation')
