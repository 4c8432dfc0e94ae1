-- Exact quantiles of each run's latency over the cycles that ran, counted from the samples themselves:
-- sample_hist is their histogram, nanosecond by nanosecond. Runs whose samples retention took are not in it.
WITH by_run AS (
  SELECT b.run, b.latency_ns, SUM(b.samples) AS n
  FROM sample_hist b
  JOIN threads t ON t.run = b.run AND t.segment = b.segment AND t.thread = b.thread
  WHERE NOT t.traced
  GROUP BY b.run, b.latency_ns
),
ranked AS (
  SELECT run, latency_ns, n,
         SUM(n) OVER (PARTITION BY run ORDER BY latency_ns
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached,
         SUM(n) OVER (PARTITION BY run) AS total
  FROM by_run
),
found AS (
  SELECT run,
         MIN(CASE WHEN reached * 2 >= total THEN latency_ns END) AS p50_ns,
         MIN(CASE WHEN reached * 1000 >= total * 999 THEN latency_ns END) AS p999_ns,
         MIN(CASE WHEN reached * 100000 >= total * 99999 THEN latency_ns END) AS p99999_ns,
         MAX(latency_ns) AS max_ns,
         SUM(n) AS counted, SUM(latency_ns * n) AS counted_sum
  FROM ranked
  GROUP BY run
),
there AS (
  SELECT run, SUM(executed) AS recorded, SUM(latency_sum_ns) AS recorded_sum
  FROM threads
  WHERE NOT traced
  GROUP BY run
)
SELECT r.board, r.run_id, e.recorded AS cycles, f.p50_ns, f.p999_ns, f.p99999_ns, f.max_ns,
       COALESCE(f.counted, 0) AS counted, COALESCE(f.counted_sum, 0) AS counted_sum,
       e.recorded, e.recorded_sum
FROM there e
JOIN runs r ON r.run = e.run
LEFT JOIN found f ON f.run = e.run
WHERE r.has_samples
ORDER BY r.board, r.run_id
