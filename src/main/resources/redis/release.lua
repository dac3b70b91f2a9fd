-- Removes holds and returns their tokens to the rate limit, for workloads that were not submitted after all.
--
-- KEYS: rate (hash), then per queue its holds (sorted set). ARGV: burst, then per queue n, n workload ids
-- A hold that has expired, or whose workload is published by now, returns no token.
local at, given = 2, 0
for q = 2, #KEYS do
    local n = tonumber(ARGV[at])
    for i = at + 1, at + n do
        given = given + redis.call('ZREM', KEYS[q], ARGV[i])
    end
    at = at + 1 + n
end
-- A missing bucket counts as full and needs no tokens.
local tokens = redis.call('HGET', KEYS[1], 'tokens')
if tokens and given > 0 then
    redis.call('HSET', KEYS[1], 'tokens', tostring(math.min(tonumber(ARGV[1]), tonumber(tokens) + given)))
end
return 'ok'
