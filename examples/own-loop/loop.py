"""A control loop of 250 Hz in Python, recorded by `wakepath record -- python3 loop.py`."""

import sys

import wakepath


def step(state: float) -> float:
    """Stands for reading sensors, computing and writing commands."""
    for _ in range(500):
        state += (1.0 - state) * 0.01
    return state


def main() -> None:
    for shortfall in wakepath.prepare(wakepath.Other(nice=0)):
        print(shortfall, file=sys.stderr)
    state = 0.0
    with wakepath.Loop("control", rate_hz=250) as loop:
        compute = loop.section("compute", budget_ns=1_000_000)
        for _cycle in loop:
            with compute:
                state = step(state)
        print(f"the last state is {state:.3f}; {loop.skipped} due times skipped")


if __name__ == "__main__":
    main()
