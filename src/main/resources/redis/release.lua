-- Gives up holds. KEYS: per queue its holds (sorted set). ARGV: per queue n, n workload ids
local at = 1
for q = 1, #KEYS do
    local n = tonumber(ARGV[at])
    for i = at + 1, at + n do
        redis.call('ZREM', KEYS[q], ARGV[i])
    end
    at = at + 1 + n
end
return 'ok'
