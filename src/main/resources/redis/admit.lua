-- Admits workloads of one tenant, or returns the check that failed; changes nothing unless all checks pass.
-- It never changes a published counter: an admitted workload has a hold until the leader's batch counts it or the hold expires.
--
-- KEYS: counters (hash), rate (hash), then per queue its holds (sorted set: workload id -> expiry of the hold, ms)
-- ARGV: submissions per second, burst, hold time in ms, then per queue: its id, most that may wait, n, n workload ids
-- Answer: {'ok'} | {'unknown'} no counters are published: the caller must check in PostgreSQL
--       | {'tenant', its state} | {'queue', its number (from 1), waiting now, limit} | {'rate', ms until the rate allows it}

local counters, rate = KEYS[1], KEYS[2]
local perSecond, burst, holdMillis = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])

local known = redis.call('HMGET', counters, 'epoch', 'state')
if not known[1] then
    return { 'unknown' }
end
if known[2] ~= 'active' then
    return { 'tenant', known[2] or '' }
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local at, total = 4, 0
for q = 3, #KEYS do
    local queue, most, n = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    redis.call('ZREMRANGEBYSCORE', KEYS[q], '-inf', now)
    local waiting = tonumber(redis.call('HGET', counters, 'queued:' .. queue) or '0') + redis.call('ZCARD', KEYS[q])
    if waiting + n > most then
        return { 'queue', q - 2, waiting, most }
    end
    total = total + n
    at = at + 3 + n
end

local bucket = redis.call('HMGET', rate, 'tokens', 'at')
local tokens = burst
if bucket[1] then
    tokens = math.min(burst, tonumber(bucket[1]) + math.max(0, now - tonumber(bucket[2])) * perSecond / 1000)
end
if tokens < total then
    return { 'rate', math.ceil((total - tokens) * 1000 / perSecond) }
end
redis.call('HSET', rate, 'tokens', tostring(tokens - total), 'at', tostring(now))
redis.call('PEXPIRE', rate, math.ceil(burst * 1000 / perSecond) + 1000)

at = 4
for q = 3, #KEYS do
    local n = tonumber(ARGV[at + 2])
    for i = at + 3, at + 2 + n do
        redis.call('ZADD', KEYS[q], now + holdMillis, ARGV[i])
    end
    redis.call('PEXPIRE', KEYS[q], holdMillis + 1000)
    at = at + 3 + n
end
return { 'ok' }
