-- Which boards ever missed a due time by their run's own criterion: in how many runs, since when, and the
-- worst latency seen in them.
WITH judged AS (
  SELECT run, SUM(due) AS due, SUM(missed) AS missed, SUM(skipped) AS skipped, MAX(max_ns) AS worst_ns
  FROM conditions
  GROUP BY run
),
there AS (
  SELECT run, SUM(executed + skipped) AS due, SUM(skipped) AS skipped
  FROM threads
  WHERE NOT traced
  GROUP BY run
)
SELECT r.board,
       COUNT(*) AS runs,
       SUM(CASE WHEN j.missed > 0 THEN 1 ELSE 0 END) AS runs_exceeded,
       SUM(j.missed) AS missed, SUM(t.due) AS due,
       MIN(CASE WHEN j.missed > 0 THEN r.started END) AS first_exceeded,
       MAX(CASE WHEN j.missed > 0 THEN j.worst_ns END) AS worst_ns,
       COALESCE(SUM(j.due), 0) AS counted, COALESCE(SUM(j.skipped), 0) AS counted_sum,
       SUM(t.due) AS recorded, SUM(t.skipped) AS recorded_sum
FROM runs r
JOIN there t ON t.run = r.run
LEFT JOIN judged j ON j.run = r.run
GROUP BY r.board
ORDER BY runs_exceeded DESC, r.board
