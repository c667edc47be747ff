"""Figures of what plans cost by simulation (bench/plans)."""

import figures


def plans(results, folder):
    """Returns the files drawn."""
    note = "simulated, not measured: " + ", ".join(" ".join(line.split()) for line in results["network"].splitlines())
    drawn = [folder / "plans_bytes.svg", folder / "plans_ranks.svg", folder / "plans_initialisation.svg"]
    figures.panels(drawn[0], "What collectives cost, by their bytes", "bytes", "µs", results["panels"], note=note)
    figures.lines(drawn[1], "An allreduce, by the number of ranks, one on a node", "ranks", "µs", results["scales"], note=note)
    figures.lines(drawn[2], "Making a persistent allreduce on 16 nodes, and one run of it", "bytes", "µs", results["initialisation"], note=note)
    return drawn
