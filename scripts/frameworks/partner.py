# SPDX-License-Identifier: Apache-2.0
"""Two of these processes measure in turns: one runs at a time, a tenth of a second each, so that what others do to the
machine, and its clock, meet both alike. Each has a pipe that it reads and one that it writes; a byte is the turn.
"""

import os
import time

SECONDS, FEWEST = 0.03, 4  # of a turn, and its runs


class Partner:
    def __init__(self):
        self.pipes, self.waited_ns, self.since, self.runs = None, 0, 0, 0

    def begin(self, reads, writes, first):
        """When both are ready the first goes on."""
        self.pipes = (reads, writes)
        self._pass_on()
        if not first:
            self._wait()

    def _wait(self):
        """Until the other has had its turn; one that has ended has no more of them."""
        began = time.perf_counter_ns()
        if self.pipes and not os.read(self.pipes[0], 1):
            self.pipes = None
        self.since, self.runs = time.perf_counter_ns(), 0
        self.waited_ns += self.since - began

    def _pass_on(self):
        try:
            os.write(self.pipes[1], b".")
        except BrokenPipeError:
            self.pipes = None
        self._wait()

    def step(self, seconds=SECONDS):
        """Before each run; true: the other has run, and caches hold what it left."""
        if self.pipes is None:
            return False
        self.runs += 1
        if self.runs <= FEWEST or time.perf_counter_ns() - self.since < seconds * 1e9:
            return False
        self._pass_on()
        self.runs = 1
        return True

    def now(self):
        """Nanoseconds of own time."""
        return time.perf_counter_ns() - self.waited_ns


partner = Partner()
