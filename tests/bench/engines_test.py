"""Each engine that the library knows is a column of its own, with its variable; the others are left out by name."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench/lib"))
import engines  # noqa: E402
import libraries  # noqa: E402

# A library that knows two engines: its mpicc makes an empty program, its mpiexec is MPI_Init.
MPICC = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
touch "$2"
"""
MPIEXEC = """#!/bin/sh
case "$HEDDLE_MATCHING" in list|hash|hash:*) exit 0;; esac
echo "heddle: MPI_Init: HEDDLE_MATCHING='$HEDDLE_MATCHING' is unknown" >&2
exit 16
"""


class Engines(unittest.TestCase):
    def find(self, wanted):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as errors:
            prefix = pathlib.Path(folder)
            (prefix / "bin").mkdir()
            for name, text in (("mpicc", MPICC), ("mpiexec", MPIEXEC)):
                (prefix / "bin" / name).write_text(text)
                (prefix / "bin" / name).chmod(0o755)
            heddle = libraries.Library("heddle", "Heddle", "1", prefix, "mpicc", (), {"OTHER": "kept"})
            return engines.find(wanted, heddle, prefix / "work"), errors.getvalue()

    def test_those_that_are_there(self):
        found, errors = self.find("all")
        self.assertEqual([library.name for library in found], ["list", "hash"])
        self.assertEqual(found[1].variables, {"OTHER": "kept", "HEDDLE_MATCHING": "hash"})
        self.assertEqual(errors.count("without the engine"), len(engines.ALL) - 2)
        self.assertIn("bench/run: without the engine grid: HEDDLE_MATCHING='grid' is unknown\n", errors)

    def test_some_with_a_parameter_once_each(self):
        found, errors = self.find("hash:64,hash,hash:64")
        self.assertEqual([library.title for library in found], ["hash:64", "hash"])
        self.assertEqual(errors, "")

    def test_none(self):
        with self.assertRaisesRegex(SystemExit, "none of these engines"):
            self.find("nonsense")


if __name__ == "__main__":
    unittest.main()
