#!/usr/bin/env python3
"""dies.py SENTENCE PROGRAM...: the program ends with an error code, after one line that holds the sentence."""

import subprocess
import sys

done = subprocess.run(sys.argv[2:], capture_output=True, text=True, timeout=60)
lines = done.stderr.splitlines()
print(done.stdout + done.stderr)
if done.returncode == 0 or "end" in done.stdout:
    sys.exit("the program went on")
if len(lines) != 1 or sys.argv[1] not in lines[0]:
    sys.exit(f"stderr should be one line with: {sys.argv[1]}")
