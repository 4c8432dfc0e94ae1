-- Exact quantiles of the latency over all due times, by the nearest rank: the smallest value that at
-- least n·q of n values reach, without a division. They are exact where `exact` is true, else at most
-- 0.4 % too high.
WITH bins AS (
  SELECT r.kernel, r.board, t.phase, t.policy, h.upper_ns,
         SUM(h.samples) AS n, SUM(h.sum_ns) AS sum_ns,
         MIN(CASE WHEN h.exact THEN 1 ELSE 0 END) AS is_exact
  FROM hist h
  JOIN threads t ON t.run = h.run AND t.segment = h.segment AND t.thread = h.thread
  JOIN runs r ON r.run = h.run
  WHERE h.metric IN ('latency', 'skipped') AND NOT t.traced
  GROUP BY r.kernel, r.board, t.phase, t.policy, h.upper_ns
),
ranked AS (
  SELECT kernel, board, phase, policy, upper_ns, n, sum_ns, is_exact,
         SUM(n) OVER (PARTITION BY kernel, board, phase, policy ORDER BY upper_ns
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached,
         SUM(n) OVER (PARTITION BY kernel, board, phase, policy) AS total
  FROM bins
),
found AS (
  SELECT kernel, board, phase, policy,
         MIN(CASE WHEN reached * 2 >= total THEN upper_ns END) AS p50_ns,
         MIN(CASE WHEN reached * 100 >= total * 99 THEN upper_ns END) AS p99_ns,
         MIN(CASE WHEN reached * 1000 >= total * 999 THEN upper_ns END) AS p999_ns,
         MIN(CASE WHEN reached * 10000 >= total * 9999 THEN upper_ns END) AS p9999_ns,
         MIN(CASE WHEN reached * 100000 >= total * 99999 THEN upper_ns END) AS p99999_ns,
         MAX(upper_ns) AS max_ns,
         MIN(is_exact) = 1 AS exact,
         SUM(n) AS counted, SUM(sum_ns) AS counted_sum
  FROM ranked
  GROUP BY kernel, board, phase, policy
),
there AS (
  SELECT r.kernel, r.board, t.phase, t.policy,
         SUM(t.executed + t.skipped) AS recorded,
         SUM(t.latency_sum_ns + t.skipped_sum_ns) AS recorded_sum
  FROM threads t
  JOIN runs r ON r.run = t.run
  WHERE NOT t.traced
  GROUP BY r.kernel, r.board, t.phase, t.policy
)
SELECT e.kernel, e.board, e.phase, e.policy, e.recorded AS due,
       f.p50_ns, f.p99_ns, f.p999_ns, f.p9999_ns, f.p99999_ns, f.max_ns, f.exact,
       COALESCE(f.counted, 0) AS counted, COALESCE(f.counted_sum, 0) AS counted_sum,
       e.recorded, e.recorded_sum
FROM there e
LEFT JOIN found f
  ON f.kernel = e.kernel AND f.board = e.board AND f.phase = e.phase AND f.policy = e.policy
ORDER BY e.kernel, e.board, e.phase, e.policy
