"""Whether the machine stayed itself while something was measured.

A virtual machine may have its cores moved apart and together again by its host, for seconds or minutes: a cache line then
takes several times as long, and so does everything that is measured. So a line is timed just before and just after each
run, and a run between two states, or in a slow one, is done again; before each the machine has a while to come back. All
that waiting and repeating may take PATIENCE, after which a run counts as it is. What the run itself measured is not looked at.
"""

import sys
import time

SLOW = 1.6  # times what a line takes otherwise: the cores are not where they were
PATIENCE, EVERY = 600, 0.25  # seconds: to wait for a fast line and to repeat runs, in all; from one look to the next
NEAR, FIRST = 90, 60  # a line between cores that share a cache takes less, ns; it is waited for at first so many seconds


class Steadiness:
    """`time_line`: a function that returns how long a cache line takes now; `pause`: one that waits so many seconds;
    `clock`: one that returns the seconds since some time."""

    def __init__(self, time_line, pause=time.sleep, clock=time.monotonic):
        self.time_line, self.pause, self.clock = time_line, pause, clock
        self.lines = []
        self.patience = PATIENCE
        self.repeated, self.disturbed = 0, 0  # runs

    def run(self, action):
        """What action() returned in the first run that the machine did not disturb; the last one when patience is at an end."""
        while True:
            before, started = self.settled(), self.clock()
            result = action()
            if getattr(result, "failure", ""):
                return result  # that is no matter of speed
            after = self.look()
            if not self.is_slow(max(before, after)):
                return result
            self.patience -= self.clock() - started
            if self.patience <= 0:
                break
            self.repeated += 1
        self.disturbed += 1
        print("\nbench/run: a run counts although a cache line took longer than before", file=sys.stderr)
        return result

    def begin(self):
        """A run that begins while the cores are apart would take that for how they are."""
        left = FIRST
        while self.time_line() > NEAR and left > 0:
            self.pause(EVERY)
            left -= EVERY

    def look(self):
        self.lines.append(self.time_line())
        return self.lines[-1]

    def is_slow(self, line):
        return line > SLOW * sorted(self.lines)[len(self.lines) // 4]  # the few fastest may have been another state

    def settled(self):
        """What a line takes once it is fast, or when patience is at an end."""
        line = self.look()
        while self.is_slow(line) and self.patience > 0:
            self.pause(EVERY)
            self.patience -= EVERY
            line = self.lines[-1] = self.time_line()  # as one look: to wait is no reason to take this for usual
        return line


class Unwatched:
    """Where only one core counts: of the machine, or to a program."""

    repeated, disturbed = 0, 0

    def begin(self):
        pass

    def run(self, action):
        return action()
