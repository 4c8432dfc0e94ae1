"""The quantiles of each run from the samples of an archive, by wakepath-fleet, DuckDB, and numpy with pyarrow: a benchmark.
`beside.py ARCHIVE wakepath|duckdb|numpy|histograms [PROGRAM]`; prints CPU seconds, the largest memory in MB, seconds
and a digest of the answer. `histograms` asks the program what a fleet asks, of histograms."""

import csv
import glob
import hashlib
import json
import resource
import subprocess
import sys
import time

QUESTION = """
WITH bins AS (
  SELECT filename AS run, latency_ns, COUNT(*) AS n
  FROM read_parquet({files}, filename = true, union_by_name = true)
  WHERE COALESCE(flags, 0) & 1 = 0
  GROUP BY 1, 2
),
ranked AS (
  SELECT run, latency_ns, n,
         SUM(n) OVER (PARTITION BY run ORDER BY latency_ns
                      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS reached,
         SUM(n) OVER (PARTITION BY run) AS total
  FROM bins
)
SELECT run, MIN(CASE WHEN reached * 2 >= total THEN latency_ns END),
       MIN(CASE WHEN reached * 1000 >= total * 999 THEN latency_ns END),
       MIN(CASE WHEN reached * 100000 >= total * 99999 THEN latency_ns END), MAX(latency_ns)
FROM ranked GROUP BY run
"""


def files(archive):
    for record in sorted(glob.glob(archive + "/runs/*.json")):
        with open(record, encoding="utf-8") as file:
            record = json.load(file)
        for kept in record["files"]:
            if kept["role"] == "samples":
                yield f"{archive}/objects/{kept['sha256'][:2]}/{kept['sha256']}"


def by_duckdb(paths):
    import duckdb

    rows = duckdb.connect().execute(QUESTION.format(files=paths)).fetchall()
    return sorted(tuple(row[1:]) for row in rows)


def by_numpy(paths):
    import numpy
    import pyarrow.parquet

    rows = []
    for path in paths:
        table = pyarrow.parquet.read_table(path, columns=["latency_ns", "flags"])
        values = table["latency_ns"].to_numpy()[table["flags"].to_numpy() & 1 == 0]
        values = numpy.sort(values)
        count = len(values)
        ranks = [-(-count // 2), -(-count * 999 // 1000), -(-count * 99999 // 100000), count]
        rows.append(tuple(int(values[rank - 1]) for rank in ranks))
    return sorted(rows)


def by_program(archive, program, question):
    words = [program, "query", question, "--csv", "--archive", archive]
    said = subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return list(csv.DictReader(said.stdout.splitlines()))


def by_wakepath(archive, program):
    names = ["p50_ns", "p999_ns", "p99999_ns", "max_ns"]
    rows = by_program(archive, program, "sample-quantiles")
    return sorted(tuple(int(row[name]) for name in names) for row in rows)


def main(archive, engine, program=None):
    began = time.monotonic()
    who = resource.RUSAGE_SELF
    if engine in ("wakepath", "histograms"):
        who = resource.RUSAGE_CHILDREN
    if engine == "wakepath":
        answer = by_wakepath(archive, program)
    elif engine == "histograms":
        answer = by_program(archive, program, "quantiles")
    else:
        paths = list(files(archive))
        answer = {"duckdb": by_duckdb, "numpy": by_numpy}[engine](paths)
    took = time.monotonic() - began
    used = resource.getrusage(who)
    digest = hashlib.sha256(repr(answer).encode()).hexdigest()[:16]
    print(f"{used.ru_utime + used.ru_stime:.2f} {used.ru_maxrss / 1024:.0f} {took:.1f} {digest}")


if __name__ == "__main__":
    main(*sys.argv[1:])
