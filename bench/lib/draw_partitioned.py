"""The figures of the suites `partitioned`, as Figures 4 to 11 of "Implementation and evaluation of MPI 4.0 partitioned communication
libraries" (Dosanjh and others, 2021): perceived bandwidth, and at the receiver what comes early beside the communication. The
function takes the results and a folder, and returns the files drawn. It prints what the paper says in its text and its Table 4: how much
more than a single send, and at which size each library peaks."""

import re

import figures
from draw_halo import drawn_or_exit
from drawings import series_of
from perceived import times_a_single_send

WAYS = {"single": "one send", "multi": "a send each", "part": "partitioned"}
SIDES = {"arrive": "communication", "early": "early"}


def scenes(results):
    """(suite, threads, ms, noise) of which there is something."""
    found = {(row["suite"], *match.groups()) for row in results["results"]
             if (match := re.fullmatch(r"(?:single|multi|part|arrive)-(\d+)-(\d+)-(\d+)", row["metric"]))}
    return sorted(found, key=lambda scene: (scene[0], *map(int, scene[1:])))


def all_series(results, suite, kinds, rest):
    return {f"{library}, {text}": points for kind, text in kinds.items()
            for library, points in series_of(results, suite, f"{kind}-{rest}").items()}


def peaks(results, suite, rest):
    """{library: (bytes, MiB/s)} of the highest perceived bandwidth of its partitioned send."""
    return {library: max(points, key=lambda point: point[1])
            for library, points in series_of(results, suite, f"part-{rest}").items() if points}


def partitioned(results, folder):
    drawn, note = [], figures.machine_line(results)
    for suite, threads, ms, noise in scenes(results):
        rest, scene = f"{threads}-{ms}-{noise}", f"{threads} threads, {ms} ms, {noise} % noise"
        bandwidth = all_series(results, suite, WAYS, rest)
        if bandwidth:
            drawn.append(folder / f"partitioned-{rest}.svg")
            figures.lines(drawn[-1], f"Perceived bandwidth: {scene}", "bytes", "MiB/s", bandwidth, note=note)
        times = all_series(results, suite, SIDES, rest)
        if times:
            drawn.append(folder / f"partitioned-receiver-{rest}.svg")
            figures.lines(drawn[-1], f"At the receiver: {scene}", "bytes", "µs", times, note=note)
        mean = times_a_single_send(results, suite, rest)
        if mean:
            print(f"{scene}: up to 16 MiB {mean:.1f} times the best single send of a peer, on average")
        for library, (size, bandwidth) in peaks(results, suite, rest).items():
            print(f"{scene}, delay {int(ms) * int(noise) / 100:g} ms: {library} peaks at {size / (1 << 20):g} MiB with {bandwidth:.0f} MiB/s")
    return drawn_or_exit(drawn, "partitioned")
