"""A loop without a recorder: its rate, its thread, its words."""

import gc
import threading
import time

import pytest

import wakepath

MILLISECOND = 1_000_000


def test_each_cycle_serves_a_due_time_and_tells_when_it_was():
    with wakepath.Loop("alone", period_ns=2 * MILLISECOND) as loop:
        assert not loop.is_recorded
        cycles = [cycle for _, cycle in zip(range(20), loop)]
        skipped = loop.skipped
    first = cycles[0]
    for cycle in cycles:
        assert cycle.due_ns == first.due_ns + (cycle.number - first.number) * 2 * MILLISECOND
        assert cycle.latency_ns == cycle.wake_ns - cycle.due_ns >= 0
        assert abs(cycle.wake_ns - time.monotonic_ns()) < 60_000 * MILLISECOND
    assert cycles[-1].number - first.number == 19 + skipped


def test_a_rate_is_a_period():
    loop = wakepath.Loop("fast", rate_hz=400)
    assert (loop.name, loop.period_ns) == ("fast", 2_500_000)
    loop.close()
    with pytest.raises(TypeError, match="either period_ns or rate_hz"):
        wakepath.Loop("both", period_ns=1, rate_hz=1)
    with pytest.raises(TypeError, match="either period_ns or rate_hz"):
        wakepath.Loop("neither")


@pytest.mark.parametrize(
    ("name", "period_ns", "words"),
    [
        ("", MILLISECOND, "a name of 1 to 32 bytes"),
        ("two\nlines", MILLISECOND, "a name of 1 to 32 bytes"),
        ("loop", 1, "give 10 µs to 10 s"),
        ("loop", 20_000_000_000, "give 10 µs to 10 s"),
    ],
)
def test_what_is_no_loop_is_refused_in_one_line(name, period_ns, words):
    with pytest.raises(ValueError, match=words) as refused:
        wakepath.Loop(name, period_ns=period_ns)
    assert "\n" not in str(refused.value)


def numbers(overrun, stall_s):
    """Of at most ten cycles of 10 ms, of which the third stalls."""
    found = []
    with wakepath.Loop("overrunning", period_ns=10 * MILLISECOND, overrun=overrun) as loop:
        for cycle in loop:
            found.append(cycle.number)
            if len(found) == 3:
                time.sleep(stall_s)
            if len(found) == 10:
                break
    return found


def test_an_overrun_is_skipped_caught_up_with_or_the_end():
    skipping = numbers("skip", 0.035)
    assert skipping[3] - skipping[2] >= 4
    assert numbers("catch-up", 0.035) == list(range(10))
    stopped = numbers("stop", 0.035)
    # On a busy machine an earlier cycle may have run over.
    assert stopped == list(range(len(stopped))) and 1 <= len(stopped) <= 3
    with pytest.raises(ValueError, match='"skip", "catch-up" or "stop", not "later"'):
        wakepath.Loop("wrong", period_ns=MILLISECOND, overrun="later")
    with pytest.raises(ValueError, match="leave out overrun"):
        wakepath.Loop("driven", period_ns=MILLISECOND, driven=True, overrun="skip")


def test_other_threads_run_while_it_waits():
    turns = []
    over = threading.Event()

    def other():
        while not over.is_set():
            turns.append(time.monotonic_ns())
            time.sleep(0.001)

    thread = threading.Thread(target=other)
    thread.start()
    with wakepath.Loop("waiting", period_ns=50 * MILLISECOND) as loop:
        loop.wait()
        began = time.monotonic_ns()
        cycle = loop.wait()
    over.set()
    thread.join()
    meanwhile = [turn for turn in turns if began < turn < cycle.wake_ns]
    # 50 ms with a turn each millisecond or so; with the lock held there would be none.
    assert len(meanwhile) > 5


def test_it_belongs_to_the_thread_that_made_it():
    said = []

    def other():
        try:
            loop.wait()
        except RuntimeError as why:
            said.append(str(why))

    with wakepath.Loop("mine", period_ns=MILLISECOND) as loop:
        loop.wait()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert said == ["the loop `mine` belongs to the thread that made it: create it in the thread that runs it"]


def test_sections_do_nothing_where_nobody_records():
    with wakepath.Loop("alone", period_ns=MILLISECOND) as loop:
        section = loop.section("compute", budget_ns=5)
        assert section.name == "compute"
        for _, _cycle in zip(range(3), loop):
            with section:
                pass
        with pytest.raises(ValueError, match="1 to 32 bytes"):
            loop.section("x" * 33)
        with pytest.raises(KeyError), section:
            raise KeyError("passes through")


def test_the_collector_is_watched_for_as_long_as_the_loop_is_there():
    before = list(gc.callbacks)
    with wakepath.Loop("watched", period_ns=MILLISECOND) as loop:
        loop.wait()
        assert len(gc.callbacks) == len(before) + 1
        gc.collect()
    assert gc.callbacks == before
    with pytest.raises(RuntimeError, match="the loop `watched` is closed"):
        loop.wait()


def test_a_function_becomes_a_loop():
    class Enough(Exception):
        pass

    seen = []

    @wakepath.periodic("step", rate_hz=1000)
    def step(cycle):
        """What it does."""
        seen.append(cycle.number)
        if len(seen) == 10:
            raise Enough

    assert (step.__name__, step.__doc__) == ("step", "What it does.")
    with pytest.raises(Enough):
        step()
    assert seen == sorted(set(seen))


def test_a_policy_carries_what_belongs_to_it():
    with pytest.raises(TypeError):
        wakepath.Deadline(1, 2, 3, priority=80)
    with pytest.raises(TypeError):
        wakepath.Deadline(1, 2, 3, cpus=[0])
    with pytest.raises(TypeError, match="is not a policy"):
        wakepath.prepare("FIFO 80")


def test_a_thread_is_prepared_and_says_what_falls_short():
    said = []

    def prepared():
        said.append(wakepath.prepare(wakepath.Other(), lock_memory=False))
        try:
            wakepath.prepare(wakepath.Fifo(priority=0), lock_memory=False)
        except wakepath.Error as why:
            said.append(str(why))
        # Of a core that no kernel of a distribution has, and at a priority that none has.
        for core in (wakepath.EvlFifo(priority=0), wakepath.CobaltFifo(priority=0)):
            try:
                wakepath.prepare(core, lock_memory=False)
            except wakepath.Error as why:
                said.append(str(why))

    # The policy is the thread's, and this one is for others.
    thread = threading.Thread(target=prepared)
    thread.start()
    thread.join()
    assert said[0] == []
    assert len(said) == 4 and "FIFO 0" in said[1]
    assert "EVL FIFO 0" in said[2] and "COBALT FIFO 0" in said[3]
    assert not any("\n" in line for line in said[1:])


def test_a_driven_loop_begins_its_cycles_and_no_other_does():
    with wakepath.Loop("bus", period_ns=MILLISECOND, driven=True) as loop:
        due_ns = time.monotonic_ns()
        cycle = loop.begin(due_ns)
        assert cycle.due_ns == due_ns and cycle.latency_ns >= 0
        loop.finish()
        with pytest.raises(RuntimeError, match="is driven by another clock"):
            loop.wait()
    with wakepath.Loop("own", period_ns=MILLISECOND) as loop:
        with pytest.raises(RuntimeError, match="has a clock of its own"):
            loop.begin()


def test_lines_and_values_have_what_a_loop_can_copy():
    with wakepath.Loop("saying", period_ns=MILLISECOND) as loop:
        loop.wait()
        loop.value("height", 1)
        loop.log("{} {} {} {}", 1, 2.5, "three", False)
        loop.log("{}", 2**64 - 1)
        with pytest.raises(OverflowError):
            loop.log("{}", 2**64)
        with pytest.raises(TypeError, match="not list"):
            loop.log("{}", [1])
        with pytest.raises(ValueError, match="8 values at most, not 9"):
            loop.log("too many", *range(9))
        with pytest.raises(ValueError, match="128 formats"):
            for number in range(200):
                loop.log(f"a format for each number: {number}")
