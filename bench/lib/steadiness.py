"""Whether the machine stayed itself while something was measured.

A virtual machine may have its cores moved apart and together again by its host, for seconds or minutes: a cache line then
takes several times as long, and so does everything that is measured. So a line is timed just before and just after each
run, and a run between two states, or in a slow one, is done again a few times before it counts. What the run itself
measured is not looked at.
"""

import sys

SLOW = 1.6  # times what a line takes otherwise: the cores are not where they were
ATTEMPTS = 4


class Steadiness:
    """`time_line`: a function that returns how long a cache line takes now."""

    def __init__(self, time_line):
        self.time_line = time_line
        self.lines = []
        self.repeated, self.disturbed = 0, 0  # runs

    def run(self, action):
        """What action() returned in the first run that the machine did not disturb; the last one when all were."""
        for attempt in range(ATTEMPTS):
            before = self.time_line()
            result = action()
            if getattr(result, "failure", ""):
                return result  # that is no matter of speed
            after = self.time_line()
            self.lines += [before, after]
            otherwise = sorted(self.lines)[len(self.lines) // 4]  # the few fastest may have been another state
            if max(before, after) <= SLOW * otherwise:
                return result
            self.repeated += attempt < ATTEMPTS - 1
        self.disturbed += 1
        print("\nbench/run: a run counts although a cache line took longer than before", file=sys.stderr)
        return result


class Unwatched:
    """Where there is only one core."""

    repeated, disturbed = 0, 0

    def run(self, action):
        return action()
