-- 90 of 2,700 areas.
-- parts: 30
SELECT * FROM highest_between(now() - interval '30 days', now(), 90);
