"""The instructions of a short message have not become more than bench/instructions.json says, but for 2 %.

  instructions_test.py PREFIX COMPILER VERSION    Heddle's build, and what compiled it

Counts are exact and depend on the compiler's version: those of another one are printed and not judged.
"""

import json
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/lib"))
import libraries  # noqa: E402
import suites  # noqa: E402

MARGIN = 0.02
SKIPPED = 77


def main():
    prefix, compiler, version = sys.argv[1:]
    known = json.loads((ROOT / "bench/instructions.json").read_text())
    samples = suites.Samples()
    suite = suites.Instructions()
    with tempfile.TemporaryDirectory() as work:
        heddle = libraries.find("heddle", pathlib.Path(prefix))
        suite.build(heddle, pathlib.Path(work))
        suite.run(heddle, pathlib.Path(work), [], samples, None)
    counts = {metric: values["heddle"][0] for (_, metric, _), values in samples.values.items()}
    assert counts.keys() == known["counts"].keys(), f"counted {sorted(counts)}, known are {sorted(known['counts'])}"
    worse = 0
    for metric, count in counts.items():
        most = known["counts"][metric] * (1 + MARGIN)
        worse += count > most
        print(f"{metric:18} {count:6.1f} instructions; bench/instructions.json says {known['counts'][metric]}"
              f"{', more than it and 2 %' if count > most else ''}")
    this = f"{'gcc' if compiler == 'GNU' else compiler} {version.split('.')[0]}"
    if this != known["compiler"]:
        print(f"not judged: compiled by {this}, known are the counts of {known['compiler']}")
        return SKIPPED
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
