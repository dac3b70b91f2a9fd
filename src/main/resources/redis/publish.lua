-- Publishes the changes of one tenant's counters by a plan of the leader, or all counters; removes the holds of the workloads that they count.
--
-- KEYS: counters (hash), then per queue its holds (sorted set)
-- ARGV: 'batch' or 'whole', epoch, sequence, sequence of the tenant's previous batch (empty: unknown), as of (ms), tenant state,
--       n, n times field and value (a zero removes the field), then per queue: n, n workload ids
-- Answer: 'ok' | 'same' this batch or a later one was applied before | 'gap' an earlier batch is missing: send all counters
--       | 'deposed' a later leader has written

local counters = KEYS[1]
local whole, epoch, sequence = ARGV[1] == 'whole', tonumber(ARGV[2]), tonumber(ARGV[3])
-- A value of another type under the key is deleted, and the counters are rebuilt.
local kind = redis.call('TYPE', counters).ok
if kind ~= 'hash' and kind ~= 'none' then
    redis.call('DEL', counters)
end
local known = redis.call('HMGET', counters, 'epoch', 'sequence')
local lastEpoch, last = tonumber(known[1] or '-1'), tonumber(known[2] or '-1')

if lastEpoch > epoch then
    return 'deposed'
end
if lastEpoch == epoch and last > sequence or not whole and lastEpoch == epoch and last == sequence then
    return 'same'
end
if whole then
    redis.call('DEL', counters)
elseif lastEpoch ~= epoch or ARGV[4] == '' or last ~= tonumber(ARGV[4]) then
    return 'gap'
end

redis.call('HSET', counters, 'epoch', ARGV[2], 'sequence', ARGV[3], 'asOf', ARGV[5], 'state', ARGV[6])
local at = 8
for _ = 1, tonumber(ARGV[7]) do
    if ARGV[at + 1] == '0' then
        redis.call('HDEL', counters, ARGV[at])
    else
        redis.call('HSET', counters, ARGV[at], ARGV[at + 1])
    end
    at = at + 2
end
for q = 2, #KEYS do
    local n = tonumber(ARGV[at])
    for i = at + 1, at + n do
        redis.call('ZREM', KEYS[q], ARGV[i])
    end
    at = at + 1 + n
end
return 'ok'
