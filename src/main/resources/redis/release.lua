-- Gives up holds, and gives what they took of the rate back: what did not come in was not submitted.
--
-- KEYS: rate (hash), then per queue its holds (sorted set). ARGV: most at once, then per queue n, n workload ids
-- A hold that has expired, or is published by now, is not given back.
local at, given = 2, 0
for q = 2, #KEYS do
    local n = tonumber(ARGV[at])
    for i = at + 1, at + n do
        given = given + redis.call('ZREM', KEYS[q], ARGV[i])
    end
    at = at + 1 + n
end
-- Without a bucket there is nothing to give back: it is full.
local tokens = redis.call('HGET', KEYS[1], 'tokens')
if tokens and given > 0 then
    redis.call('HSET', KEYS[1], 'tokens', tostring(math.min(tonumber(ARGV[1]), tonumber(tokens) + given)))
end
return 'ok'
