-- Every thirtieth hour of 30 days.
-- parts: 30
SELECT hour, count(flooded.local_area)
FROM generate_series(now() - interval '30 days', now(), interval '30 hours') AS hour
LEFT JOIN LATERAL flooded_at(hour) AS flooded ON true
GROUP BY hour;
