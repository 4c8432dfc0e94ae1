-- The hundred worst cycles of the fleet by response time, each with its run. They are kept for ever.
SELECT r.board, r.kernel, r.run_id, o.segment, o.thread, o.cycle,
       o.latency_ns, o.execution_ns, o.response_ns, r.outcome
FROM outliers o
JOIN runs r ON r.run = o.run
ORDER BY o.response_ns DESC, r.run_id, o.segment, o.thread, o.cycle
LIMIT 100
