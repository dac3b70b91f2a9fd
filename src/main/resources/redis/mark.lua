-- Notes that the leader of this epoch has put all counters in place, or reads who did.
-- KEYS: the marker. ARGV: 'set' or 'get', epoch. Answer: the epoch that is noted, '' for none
if ARGV[1] == 'set' then
    redis.call('SET', KEYS[1], ARGV[2])
end
return redis.call('GET', KEYS[1]) or ''
