"""Loops in Python under `wakepath record`: judged, with the interpreter's own pauses beside their sections."""

import json
import os
import subprocess
import sys
import time

import wakepath

from conftest import PACKAGE, ROOT, binary


def sections(results, loop="control"):
    return {of["name"]: of for of in results["modules"] if of["thread"] == loop}


def executed(results):
    return sum(condition["cycles"]["executed"] for condition in results["conditions"])


def test_the_example_is_recorded_and_judged(record):
    directory, results = record(ROOT / "examples/own-loop/loop.py")
    assert results["outcome"] in ("passed", "failed", "undecided")
    found = sections(results)
    assert set(found) == {"compute", "waiting for the GIL", "garbage collection"}
    assert found["compute"]["runs"] == found["waiting for the GIL"]["runs"] == executed(results)
    assert found["compute"]["budget_ns"] == 1_000_000
    [condition] = results["conditions"]
    cycles = condition["cycles"]
    assert cycles["executed"] + cycles["skipped"] == cycles["scheduled"]
    assert "the last state is 1.000" in (directory / "program.log").read_text()


COLLECTING = """
import gc
import wakepath

class Knot:
    def __init__(self):
        self.self = self

gc.disable()
with wakepath.Loop("control", rate_hz=100) as loop:
    for cycle in loop:
        if cycle.number % 10 == 0:
            knots = [Knot() for _ in range(5000)]
            del knots
            gc.collect()
"""


def test_the_collectors_pauses_stand_beside_the_sections(record_text):
    _, results = record_text(COLLECTING)
    found = sections(results)["garbage collection"]
    # In every tenth cycle that ran, of those due in either segment.
    scheduled = sum(condition["cycles"]["scheduled"] for condition in results["conditions"])
    assert 0 < found["runs"] <= scheduled / 10 + 2
    # 5000 objects that refer to themselves take more than 100 µs on any machine.
    assert found["max_ns"] > 100_000
    assert found["sum_ns"] < 10_000_000 * executed(results)


BUSY = """
import threading
import wakepath

def busy():
    number = 0
    while True:
        number += 1

threading.Thread(target=busy, daemon=True).start()
with wakepath.Loop("control", rate_hz=50) as loop:
    for cycle in loop:
        pass
"""


def test_what_the_loop_waits_for_the_lock_is_told(record_text):
    _, results = record_text(BUSY)
    found = sections(results)["waiting for the GIL"]
    assert found["runs"] == executed(results)
    # A thread that never lets go of it is asked to after sys.getswitchinterval(): 5 ms.
    assert found["max_ns"] > 4_000_000


TWO = """
import threading
import wakepath

@wakepath.periodic("fast", rate_hz=200)
def fast(cycle):
    pass

@wakepath.periodic("slow", rate_hz=20)
def slow(cycle):
    pass

other = threading.Thread(target=slow)
other.start()
fast()
other.join()
"""


def test_two_loops_of_one_program_are_judged_apart(record_text):
    directory, results = record_text(TWO)
    scheduled = {of["name"]["task"]: of["cycles"]["scheduled"] for of in results["conditions"]}
    assert set(scheduled) == {"fast", "slow"}
    assert scheduled["fast"] == 10 * scheduled["slow"]
    assert {condition.loop for condition in wakepath.open_run(directory).conditions} == {"fast", "slow"}


DRIVEN = """
import time
import wakepath

with wakepath.Loop("bus", rate_hz=100, driven=True) as loop:
    due_ns = time.monotonic_ns()
    while True:
        due_ns += 10_000_000
        time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
        cycle = loop.begin(due_ns)
        if cycle is None:
            break
        loop.value("height", cycle.number / 2)
        loop.log("cycle {} at {:.1f} of {}, {}", cycle.number, 1.5, "bus", True)
        loop.finish()
"""


def test_a_loop_of_another_clock_says_values_and_lines(record_text):
    _, results = record_text(DRIVEN)
    [condition] = results["conditions"]
    assert condition["cycles"]["executed"] * 2 > condition["cycles"]["scheduled"]
    [said] = results["said"]
    assert said["thread"] == "bus"
    [height] = said["values"]
    assert height["name"] == "height" and height["count"] > 100
    assert height["min"] >= 0 and height["max"] == int(height["max"] * 2) / 2
    assert said["lines"] == height["count"]
    assert " at 1.5 of bus, True" in str(said["first"])


IN_THE_FIELD = """
import sys
import wakepath

print(wakepath.record_service("field", criterion="miss-fraction 90 %", keep="16MiB", worst=3, recorder=sys.argv[1]))
print(wakepath.record_service("field", recorder=sys.argv[1]))
with wakepath.Loop("control", rate_hz=200) as loop:
    for cycle in loop:
        if cycle.number >= 100:
            break
    print(loop.is_recorded)
"""

UNRECORDED = """
import wakepath

try:
    wakepath.record_service("field", recorder="/nowhere/wakepath")
except wakepath.Error as why:
    print(why)
"""


def run_in_the_field(place, text, *arguments):
    script = place / "my_loop.py"
    script.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, cwd=place, timeout=60)


def test_a_program_starts_its_recorder_itself(tmp_path):
    said = run_in_the_field(tmp_path, IN_THE_FIELD, binary())
    assert said.stdout.split() == ["True", "False", "True"], said.stderr
    for _ in range(200):
        shown = subprocess.run([binary(), "show", "--json", str(tmp_path / "field")], capture_output=True)
        service = json.loads(shown.stdout)["service"]
        if service["ended"]:
            break
        time.sleep(0.1)
    assert service["loops"]["control"]["executed"] > 10
    assert len(service["loops"]["control"]["worst"]) == 3


def test_why_there_is_no_recorder_is_said_in_one_line(tmp_path):
    said = run_in_the_field(tmp_path, UNRECORDED)
    assert said.stdout.startswith("the program /nowhere/wakepath is not installed"), said.stderr
    assert not (tmp_path / "field").exists()
