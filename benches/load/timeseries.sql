-- Every hour of seven days.
SELECT hour, count(flooded.local_area)
FROM generate_series(now() - interval '7 days', now(), interval '1 hour') AS hour
LEFT JOIN LATERAL flooded_at(hour) AS flooded ON true
GROUP BY hour;
