-- Decides on one request and charges it; see bankrail_rate_limit::decide. Integers below 2^53 throughout.
-- KEYS[1]  the state: "1 high_water length current previous ...", absent when nothing is counted
-- ARGV     now in milliseconds or "" for the server's time, cost, "sliding"|"fixed", "attempts"|"admitted",
--          the milliseconds for which the key is kept after the counters have any weight,
--          then length in milliseconds and limit of each window, longest first
-- returns  the time asked at, refused windows as bits, high water, 1 if the counts were of a clock that was ahead, then
--          current and previous of each window
local cost = tonumber(ARGV[2])
local sliding = ARGV[3] == 'sliding'
local attempts = ARGV[4] == 'attempts'

local asked
if ARGV[1] == '' then
  local time = redis.call('TIME')
  asked = time[1] * 1000 + math.floor(time[2] / 1000)
else
  asked = tonumber(ARGV[1])
end

local before = nil
local counted = {}
local stored = redis.call('GET', KEYS[1])
if stored then
  local numbers = {}
  for word in string.gmatch(stored, '[^ ]+') do
    local number = tonumber(word)
    if not number then return redis.error_reply('UNREADABLE rate-limit state') end
    numbers[#numbers + 1] = number
  end
  if numbers[1] ~= 1 or #numbers % 3 ~= 2 then return redis.error_reply('UNREADABLE rate-limit state') end
  before = numbers[2]
  for at = 3, #numbers, 3 do counted[numbers[at]] = {numbers[at + 1], numbers[at + 2]} end
end
local now, longest = asked, tonumber(ARGV[6])
local ahead = before and before - now or 0
-- Machines' clocks differ by a minute at most.
if ahead > 0 and ahead <= math.min(60000, longest) then now, ahead = before, 0 end
-- Counters stop at 2^32 - 1 and where counter * length would pass 2^52.
local function ceiling(length) return math.min(4294967295, math.floor(4503599627370496 / length)) end

local windows = {}
local refused = 0
local bit = 1
for at = 6, #ARGV, 2 do
  local length, limit = tonumber(ARGV[at]), tonumber(ARGV[at + 1])
  local start = now - now % length
  local current, previous = 0, 0
  local counts = counted[length]
  if counts then
    if before >= start + length then
      -- Of a later window: counted in this one, or no evidence.
      if ahead <= 2 * length then current = math.min(counts[1] + counts[2], ceiling(length)) end
    elseif before >= start then
      current, previous = counts[1], counts[2]
    elseif before >= start - length then
      previous = counts[1]
    end
  end
  local room = limit - current - cost
  if room < 0 or (sliding and previous * (start + length - now) > room * length) then refused = refused + bit end
  bit = bit * 2
  windows[#windows + 1] = {length, current, previous, start + length}
end

local charged = refused == 0 or attempts
if cost > 0 and (charged or ahead > 0) then
  local words = {'1', string.format('%.0f', now)}
  local spent = asked
  for _, window in ipairs(windows) do
    local length = window[1]
    if charged then window[2] = math.min(window[2] + cost, ceiling(length)) end
    words[#words + 1] = string.format('%.0f %.0f %.0f', length, window[2], window[3])
    spent = math.max(spent, window[4] + length)
  end
  -- Longer than the counters have any weight, for clocks that step back.
  redis.call('SET', KEYS[1], table.concat(words, ' '), 'PX', string.format('%.0f', spent - asked + tonumber(ARGV[5])))
end

local answer = {asked, refused, now, ahead > 2 * longest and 1 or 0}
for _, window in ipairs(windows) do
  answer[#answer + 1] = window[2]
  answer[#answer + 1] = window[3]
end
return answer
