-- Missed due times by each run's own criterion, with the share that is not exceeded with 95 % confidence
-- (added by the program). Runs that are invalid are counted apart: they prove nothing.
WITH judged AS (
  SELECT run, phase, policy, SUM(due) AS due, SUM(missed) AS missed, SUM(skipped) AS skipped,
         MAX(CASE WHEN outcome = 'invalid' THEN 1 ELSE 0 END) AS is_invalid
  FROM conditions
  GROUP BY run, phase, policy
),
there AS (
  SELECT run, phase, SUM(executed + skipped) AS due, SUM(skipped) AS skipped
  FROM threads
  WHERE NOT traced
  GROUP BY run, phase
),
by_phase AS (
  SELECT run, phase, SUM(due) AS due, SUM(skipped) AS skipped
  FROM judged
  GROUP BY run, phase
),
checked AS (
  SELECT t.run, t.phase, COALESCE(b.due, 0) AS counted, COALESCE(b.skipped, 0) AS counted_sum,
         t.due AS recorded, t.skipped AS recorded_sum
  FROM there t
  LEFT JOIN by_phase b ON b.run = t.run AND b.phase = t.phase
),
checked_by_group AS (
  SELECT r.kernel, r.board, c.phase, SUM(c.counted) AS counted, SUM(c.counted_sum) AS counted_sum,
         SUM(c.recorded) AS recorded, SUM(c.recorded_sum) AS recorded_sum
  FROM checked c
  JOIN runs r ON r.run = c.run
  GROUP BY r.kernel, r.board, c.phase
),
found AS (
  SELECT r.kernel, r.board, j.phase,
         COUNT(DISTINCT r.run) AS runs,
         COUNT(DISTINCT CASE WHEN j.is_invalid = 1 THEN r.run END) AS invalid_runs,
         SUM(j.due) AS due, SUM(j.missed) AS missed
  FROM judged j
  JOIN runs r ON r.run = j.run
  GROUP BY r.kernel, r.board, j.phase
)
SELECT c.kernel, c.board, c.phase, f.runs, f.invalid_runs, f.due, f.missed,
       c.counted, c.counted_sum, c.recorded, c.recorded_sum
FROM checked_by_group c
LEFT JOIN found f ON f.kernel = c.kernel AND f.board = c.board AND f.phase = c.phase
ORDER BY c.kernel, c.board, c.phase
