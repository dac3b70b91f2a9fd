-- Records that the leader of this epoch has published all counters, or reads the epoch of the leader that did.
-- KEYS: the marker. ARGV: 'set' or 'get', epoch. Answer: the recorded epoch, '' for none
if ARGV[1] == 'set' then
    redis.call('SET', KEYS[1], ARGV[2])
end
return redis.call('GET', KEYS[1]) or ''
