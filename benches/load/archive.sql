-- All areas.
SELECT * FROM highest_between(now() - interval '7 days', now(), NULL);
