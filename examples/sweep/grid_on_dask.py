"""One wakepath command over a grid of options, on a Dask cluster: flights, runs of the laboratory.

    pip install distributed
    python3 examples/sweep/grid_on_dask.py --vary seed=0..19 --vary vehicle=hummingbird,crazyflie \\
        --output flights.jsonl -- fly RUN
    python3 examples/sweep/grid_on_dask.py --vary kernel=debian:stock,debian:rt --output lab.jsonl -- lab run loop.toml

Each task is `wakepath COMMAND --seed 3 … --json`; wakepath and the files that it reads must be on every
worker. The output has a line of JSON for each point of the grid, in the grid's order, however many workers
there are. A verdict is a result (exit codes 0, 2 and 3). What fails is tried again, here by its task and
elsewhere where its worker died; what fails each time is a line with its reason, and the exit code is 1.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile

from distributed import Client, LocalCluster

VERDICTS = (0, 2, 3)


def values(text):
    """`0..3` and `a,b` as lists."""
    first, dots, last = text.partition("..")
    if dots and first.lstrip("-").isdigit() and last.lstrip("-").isdigit():
        return [str(value) for value in range(int(first), int(last) + 1)]
    return text.split(",")


def varied(text):
    """An option and its values."""
    name, equals, those = text.partition("=")
    if not equals or not name or not those:
        raise argparse.ArgumentTypeError(f"{text!r} is not a NAME=VALUES, such as seed=0..9")
    return name, values(those)


def point(program, command, options, tries):
    """What a point of the grid gives, as a line of JSON."""
    words = [word for name, value in options for word in ("--" + name, value)]
    line = {"options": dict(options)}
    for _ in range(tries):
        # What it writes is its own; what it reads is named from where the grid was started.
        with tempfile.TemporaryDirectory() as scratch:
            environment = dict(os.environ, TMPDIR=scratch)
            done = subprocess.run(
                [program, *command, *words, "--json"], capture_output=True, text=True, env=environment
            )
        line.pop("failed", None)
        if done.returncode in VERDICTS:
            try:
                line.update(exit=done.returncode, result=json.loads(done.stdout))
                break
            except json.JSONDecodeError as error:
                line["failed"] = f"no JSON: {error}"
                continue
        said = done.stderr.strip().splitlines() or ["it says nothing"]
        line["failed"] = f"exit code {done.returncode}: {said[-1]}"
    return json.dumps(line, sort_keys=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", default="wakepath", help="wakepath, on every worker")
    arguments.add_argument("--scheduler", help="address of a cluster [default: one on this machine]")
    arguments.add_argument("--workers", type=int, help="workers of a cluster on this machine")
    arguments.add_argument("--vary", type=varied, action="append", required=True, metavar="NAME=VALUES")
    arguments.add_argument("--tries", type=int, default=3, help="how often a task is tried")
    arguments.add_argument("--kill-one", action="store_true", help="kill a worker meanwhile: a test")
    arguments.add_argument("--output", required=True, help="file for the lines")
    arguments.add_argument("command", nargs="+", help="of wakepath, after --")
    given = arguments.parse_args()

    names = [name for name, _ in given.vary]
    grid = [list(zip(names, chosen)) for chosen in itertools.product(*(those for _, those in given.vary))]
    cluster = given.scheduler or LocalCluster(
        n_workers=given.workers, threads_per_worker=1, dashboard_address=None
    )
    with Client(cluster) as client:
        # Not pure: what failed is asked for anew, and not remembered.
        futures = [
            client.submit(point, given.program, given.command, options, given.tries, pure=False)
            for options in grid
        ]
        if given.kill_one:
            workers = client.run(os.getpid)
            os.kill(next(iter(workers.values())), 9)
        lines = client.gather(futures)
    with open(given.output, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines)
    failed = sum("failed" in json.loads(line) for line in lines)
    print(f"{len(lines)} points, {failed} failed: {given.output}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
