"""A 100 Hz autopilot that writes a log line in each cycle, in one of three ways: by itself, through a thread of
its own, or through another process. The same controller as autopilot.cpp; what differs is who waits for the disk.

    wakepath record -- python3 autopilot.py --logging synchronous|thread|process [--log FILE]
"""

import argparse
import math
import os
import queue
import socket
import sys
import threading

import wakepath

LINES_A_SYNC = 100
"""Lines between two waits for the disk: what the log may lose with the battery, a second."""


class File:
    """The log on its disk. The same for all three ways."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self._lines = 0

    def write(self, line: bytes) -> None:
        os.write(self._descriptor, line)
        self._lines += 1
        if self._lines % LINES_A_SYNC == 0:
            os.fdatasync(self._descriptor)


class Synchronous:
    """The loop writes, and waits for the disk itself."""

    dropped = 0

    def __init__(self, path: str) -> None:
        self._file = File(path)

    def write(self, line: bytes) -> None:
        self._file.write(line)

    def close(self) -> None:
        pass


class Thread:
    """A thread of the same process writes. It shares the interpreter's lock with the loop."""

    def __init__(self, path: str) -> None:
        self.dropped = 0
        self._lines: queue.Queue = queue.Queue(1024)
        self._file = File(path)
        self._writer = threading.Thread(target=self._run)
        self._writer.start()

    def write(self, line: bytes) -> None:
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self.dropped += 1

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            self._file.write(line)

    def close(self) -> None:
        self._lines.put(None)
        self._writer.join()


class Process:
    """Another process writes, at a lower priority; each line goes to it as a datagram."""

    def __init__(self, path: str) -> None:
        self.dropped = 0
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Before the loop is made: a child then has nothing of it.
        self._writer = os.fork()
        if self._writer == 0:
            self._socket.close()
            self._run(theirs, path)
            os._exit(0)
        theirs.close()
        self._socket.setblocking(False)

    def write(self, line: bytes) -> None:
        try:
            self._socket.send(line)
        except OSError:
            self.dropped += 1

    @staticmethod
    def _run(lines: socket.socket, path: str) -> None:
        os.nice(5)
        file = File(path)
        while line := lines.recv(256):
            file.write(line)

    def close(self) -> None:
        self._socket.close()
        os.waitpid(self._writer, 0)


class Autopilot:
    """Roll, pitch and yaw: a filter, a controller in cascade, and the craft that they fly, in place of a sensor head."""

    def __init__(self) -> None:
        self.cycle = 0
        self.angle, self.rate, self.estimate = [0.0] * 3, [0.0] * 3, [0.0] * 3
        self.integral, self.command = [0.0] * 3, [0.0] * 3
        self.covariance = [[0.0] * 15 for _ in range(15)]

    def sense(self) -> None:
        for axis in range(3):
            gust = math.sin(0.013 * self.cycle * (axis + 1))
            self.rate[axis] += 0.01 * (8.0 * self.command[axis] - 1.5 * self.rate[axis] + gust)
            self.angle[axis] += 0.01 * self.rate[axis]
        self.cycle += 1

    def filter(self) -> None:
        """A covariance of 15 states goes one step on: what takes the time in such a filter."""
        states = range(15)
        following = [[0.001 if row == column else 0.0 for column in states] for row in states]
        for row in states:
            for column in states:
                total = following[row][column]
                for at in states:
                    total += (0.9 if row == at else 0.005) * self.covariance[at][column]
                following[row][column] = total
        self.covariance = following
        gain = following[0][0] / (following[0][0] + 0.01)
        for axis in range(3):
            self.estimate[axis] += gain * (self.angle[axis] - self.estimate[axis])

    def control(self) -> None:
        for axis in range(3):
            wanted_rate = 2.0 * (0.1 * axis - self.estimate[axis])
            error = wanted_rate - self.rate[axis]
            self.integral[axis] += 0.01 * error
            self.command[axis] = 0.6 * error + 0.3 * self.integral[axis]

    def line(self) -> bytes:
        def all_of(values: "list[float]") -> str:
            return " ".join(f"{value:.6f}" for value in values)

        return (
            f"{self.cycle} angle {all_of(self.angle)} rate {all_of(self.rate)} "
            f"command {all_of(self.command)} covariance {self.covariance[0][0]:.9f}\n"
        ).encode()


def main() -> None:
    arguments = argparse.ArgumentParser(description="A 100 Hz autopilot with a log.")
    ways = {"synchronous": Synchronous, "thread": Thread, "process": Process}
    arguments.add_argument("--logging", choices=ways, default="synchronous")
    arguments.add_argument("--log", default="autopilot.log", metavar="FILE")
    options = arguments.parse_args()
    # Thread and process are there before the loop's thread is prepared: neither has its policy.
    log = ways[options.logging](options.log)
    for shortfall in wakepath.prepare(wakepath.Other()):
        print(shortfall, file=sys.stderr)
    autopilot = Autopilot()
    with wakepath.Loop("autopilot", rate_hz=100) as loop:
        filtering, control, logging = (loop.section(name) for name in ("filter", "control", "logging"))
        for _cycle in loop:
            autopilot.sense()
            with filtering:
                autopilot.filter()
            with control:
                autopilot.control()
            with logging:
                log.write(autopilot.line())
    log.close()
    print(f"lines dropped: {log.dropped}")


if __name__ == "__main__":
    main()
