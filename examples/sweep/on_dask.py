"""A sweep over random task sets on a Dask cluster, with wakepath itself as the worker's program.

    pip install distributed
    python3 examples/sweep/on_dask.py --output sweep.json -- --cpus 16 --cluster 4
    wakepath schedulability sweep --merge sweep.json --output sweep.html

Each task computes a few points; wakepath must be on every worker. What a worker that dies had not
handed in is computed again elsewhere: the result is the one of a single machine, byte for byte.
"""

import argparse
import json
import os
import subprocess
import tempfile

from distributed import Client, LocalCluster


def part(program, options, first, last):
    """The points from `first` to before `last`, as wakepath prints them."""
    command = [program, "schedulability", "sweep", *options, "--threads", "1"]
    command += ["--points", f"{first}..{last}"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def merged(program, parts):
    """One sweep of its parts."""
    with tempfile.TemporaryDirectory() as directory:
        command = [program, "schedulability", "sweep", "--json"]
        for number, text in enumerate(parts):
            path = os.path.join(directory, f"{number}.json")
            with open(path, "wb") as file:
                file.write(text)
            command += ["--merge", path]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--program", default="wakepath", help="wakepath, on every worker")
    arguments.add_argument("--scheduler", help="address of a cluster [default: one on this machine]")
    arguments.add_argument("--workers", type=int, help="workers of a cluster on this machine")
    arguments.add_argument("--chunk", type=int, default=2, help="points of one task")
    arguments.add_argument("--kill-one", action="store_true", help="kill a worker meanwhile: a test")
    arguments.add_argument("--output", required=True, help="file for the result")
    arguments.add_argument("options", nargs="*", help="of `wakepath schedulability sweep`, after --")
    given = arguments.parse_args()

    # The first point's answer says how many there are.
    first = part(given.program, given.options, 0, 1)
    count = json.loads(first)["plan"]["points"]
    cluster = given.scheduler or LocalCluster(
        n_workers=given.workers, threads_per_worker=1, dashboard_address=None
    )
    with Client(cluster) as client:
        chunks = [(at, min(at + given.chunk, count)) for at in range(1, count, given.chunk)]
        futures = [client.submit(part, given.program, given.options, *chunk) for chunk in chunks]
        if given.kill_one:
            # The one that is at work on the first task dies before it hands it in.
            workers = client.run(os.getpid)
            os.kill(next(iter(workers.values())), 9)
        parts = [first] + client.gather(futures)
    with open(given.output, "wb") as file:
        file.write(merged(given.program, parts))


if __name__ == "__main__":
    main()
