"""Python's side of the seam: finds the user's class, gives it what a cycle reads, takes what it
answers. Every failure becomes one line. It runs inside the loop's process."""

import os
import struct
import sys
import types
from time import monotonic_ns
from typing import Callable, NamedTuple, Tuple

VERSION = 1
# Of the memory for the times of parts, as parts.rs has it.
MOST_PARTS = 64
PART_WORDS = 12

Vector = Tuple[float, float, float]


class Setup(NamedTuple):
    """wakepath_controller_setup of wakepath_controller.h, name by name."""

    period_ns: int
    mass_kg: float
    inertia_kg_m2: Vector
    arm_m: float
    thrust: float
    yaw_torque: float
    max_speed_rad_s: float
    hover_speed_rad_s: float
    position_gain_per_s2: Vector
    velocity_gain_per_s: Vector
    attitude_gain_per_s2: float
    rate_gain_per_s: float
    settings: str
    module: Callable


class Input(NamedTuple):
    """wakepath_controller_input of wakepath_controller.h, name by name."""

    time_ns: int
    position_m: Vector
    velocity_m_s: Vector
    attitude: Tuple[float, float, float, float]
    rate_rad_s: Vector
    wanted_position_m: Vector
    wanted_velocity_m_s: Vector
    wanted_acceleration_m_s2: Vector
    wanted_yaw_rad: float
    wanted_yaw_rate_rad_s: float


class Module:
    """A part of the controller: `with` times what is done in it. Several times in a cycle add up."""

    __slots__ = ("_words", "_time", "_ran", "_began")

    def __init__(self, words, part):
        self._words = words
        self._time = part * PART_WORDS + 10
        self._ran = part * PART_WORDS + 11
        self._began = 0

    def __enter__(self):
        self._began = monotonic_ns()
        return self

    def __exit__(self, *_):
        self._words[self._time] += monotonic_ns() - self._began
        self._words[self._ran] = 1


class Modules:
    """Hands out a controller's parts while it is made."""

    def __init__(self, memory):
        self._memory = memory.cast("B")
        self._words = memory.cast("B").cast("Q")
        self._count = 0
        self.made = False

    def new(self, name, budget_ns=0, every=0):
        """A part with this name. budget_ns: the longest that it should take in a cycle, 0 for none.
        every: it shall run once in so many cycles, 0 for no rate of its own."""
        text = str(name).encode()
        if not 1 <= len(text) <= 64 or b"\0" in text:
            raise ValueError("a module's name has 1 to 64 bytes, none of them NUL")
        if self.made:
            raise RuntimeError("modules are made in __init__, not later")
        if self._count == MOST_PARTS:
            raise ValueError(f"a controller has {MOST_PARTS} modules at most")
        part = self._count
        place = part * PART_WORDS * 8
        struct.pack_into("@64s2Q", self._memory, place, text, budget_ns, every)
        self._count += 1
        return Module(self._words, part)


def _one_line(what, error, file):
    """The error with the innermost line of the user's file that it passed."""
    text = " ".join(str(error).split())
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    at = f" (line {line})" if line is not None else ""
    return f"{file}: {what} {type(error).__name__}{': ' if text else ''}{text}{at}"


def _short(value):
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def start(file, settings, path, setup, given, answer, times):
    """Loads the file and makes its Controller. Returns the function of a cycle, which returns None
    or what went wrong; or a text: why there is none."""
    # Standard output belongs to the protocol between the processes.
    sys.stdout = sys.stderr
    # Nothing is left beside the user's files.
    sys.dont_write_bytecode = True
    sys.path[:] = [os.path.dirname(file)] + path.splitlines()
    sys.argv = [file]
    module = types.ModuleType(os.path.splitext(os.path.basename(file))[0])
    module.__file__ = file
    sys.modules[module.__name__] = module
    try:
        with open(file, "rb") as source:
            exec(compile(source.read(), file, "exec"), module.__dict__)
    except BaseException as error:
        return _one_line("loading it raised", error, file)
    version = getattr(module, "WAKEPATH_CONTROLLER_VERSION", VERSION)
    if version != VERSION:
        return (
            f"{file}: was written for version {_short(version)} of the controller interface, and "
            f"this wakepath has version {VERSION}"
        )
    make = getattr(module, "Controller", None)
    if not callable(make) or not callable(getattr(make, "step", None)):
        return f"{file}: is not a controller: it defines no class Controller with a method step"
    fields = struct.unpack_from("@Q17d", setup)
    modules = Modules(times)
    try:
        controller = make(
            Setup(
                fields[0],
                fields[1],
                fields[2:5],
                *fields[5:10],
                fields[10:13],
                fields[13:16],
                *fields[16:18],
                settings,
                modules.new,
            )
        )
        modules.made = True
    except BaseException as error:
        return _one_line("Controller(setup) raised", error, file)

    own = controller.step
    read = struct.Struct("@Q24d").unpack_from
    write = struct.Struct("@4d").pack_into

    def step():
        try:
            v = read(given)
            speeds = own(
                Input(
                    v[0],
                    v[1:4],
                    v[4:7],
                    v[7:11],
                    v[11:14],
                    v[14:17],
                    v[17:20],
                    v[20:23],
                    v[23],
                    v[24],
                )
            )
        except BaseException as error:
            return _one_line("step raised", error, file)
        try:
            a, b, c, d = speeds
            write(answer, 0, a, b, c, d)
        except (TypeError, ValueError, struct.error):
            return (
                f"{file}: step must return four rotor speeds in rad/s, and returned "
                f"{_short(speeds)}"
            )
        return None

    return step
