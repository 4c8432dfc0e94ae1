-- The worst latency of each kernel on each board, over all due times; a skipped one counts with what it
-- suffered until the next cycle.
WITH seen AS (
  SELECT run, segment, thread,
         SUM(samples) AS counted, SUM(sum_ns) AS counted_sum, MAX(upper_ns) AS worst_ns
  FROM hist
  WHERE metric IN ('latency', 'skipped')
  GROUP BY run, segment, thread
)
SELECT r.kernel, r.board,
       COUNT(DISTINCT r.run) AS runs,
       MAX(s.worst_ns) AS worst_ns,
       SUM(t.executed + t.skipped) AS due,
       COALESCE(SUM(s.counted), 0) AS counted,
       COALESCE(SUM(s.counted_sum), 0) AS counted_sum,
       SUM(t.executed + t.skipped) AS recorded,
       SUM(t.latency_sum_ns + t.skipped_sum_ns) AS recorded_sum
FROM threads t
JOIN runs r ON r.run = t.run
LEFT JOIN seen s ON s.run = t.run AND s.segment = t.segment AND s.thread = t.thread
WHERE NOT t.traced
GROUP BY r.kernel, r.board
ORDER BY worst_ns DESC NULLS LAST, r.kernel, r.board
