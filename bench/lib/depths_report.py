"""Tables and figures of search depths."""

import figures

# Who counted, and what: the columns of the table, and a figure for each.
SCOPES = {"simulated": "simulated", "communicator": "library", "process": "library, with collectives"}
QUEUES = {"posted": "posted receives", "unexpected": "unexpected messages"}
SHOWN_BITS = (1, 2, 3, 4, 6, 8, 12, 16)


def cell(depth):
    return "–" if depth is None else f"{depth['mean']:.2f} [{depth['min']:.2f}, {depth['max']:.2f}]"


def print_tables(results):
    machine = results["machine"]
    print(f"{results['library']['title']} {results['library']['version']}, {machine['cores']} cores, {machine['date']}; "
          f"{results['iterations']} iterations, edge {results['edge']}, imbalance {results['imbalance']} µs, "
          f"the library's engine {results['matching']}")
    print("Mean over ranks of a rank's mean search depth [least, most].")
    for queue, title in QUEUES.items():
        print(f"\n{title:24}" + "".join(f"{name:>28}" for name in SCOPES.values()))
        for row in results["rows"]:
            cells = (cell(row["depths"].get(scope, {}).get(queue)) for scope in SCOPES)
            print(f"  {row['pattern']:12}{row['ranks']:6}    " + "".join(f"{text:>28}" for text in cells))
    for key, title in (("met", "Searches that meet a wrong tag which looks right, worst rank"),
                       ("possible", "Pairs of messages to a rank whose tags differ and look alike, worst rank")):
        print(f"\n{title}, %, by bits of the tag\n{'':24}" + "".join(f"{bits:>8}" for bits in SHOWN_BITS))
        for row in results["rows"]:
            if row["bits"]:
                shares = "".join(f"{100 * row['bits'][bits][key + ' worst']:8.2f}" for bits in SHOWN_BITS)
                print(f"  {row['pattern']:12}{row['ranks']:6}    {shares}")


def draw(results, folder):
    """Returns the files drawn."""
    machine = results["machine"]
    note = f"{results['iterations']} iterations, edge {results['edge']}; the whiskers: least and most of the ranks' means"
    ran = f"; {machine['cpu']}, {machine['cores']} cores, {machine['date']}, engine {results['matching']}"
    drawn = []
    for scope, who in SCOPES.items():
        for queue, title in QUEUES.items():
            groups = {}
            for row in results["rows"]:
                depth = row["depths"].get(scope, {}).get(queue)
                if depth:
                    series = ranks_label(results, row["wanted"])
                    groups.setdefault(row["pattern"], {})[series] = (depth["mean"], depth["min"], depth["max"])
            if groups:
                path = folder / f"depth-{scope}-{queue}.svg"
                figures.bars(path, f"Search depth of {title}, {who}", "mean search depth", groups,
                             note=note + ("" if scope == "simulated" else ran))
                drawn.append(path)
    for key, what in (("met", "searches that meet a false positive"), ("possible", "possible false positives")):
        largest = {row["pattern"]: row for row in results["rows"] if row["bits"]}  # the last is of the most ranks
        series = {name: [(bits["bits"], 100 * bits[key + " worst"]) for bits in row["bits"][1:17]]
                  for name, row in largest.items()}
        ranks = "/".join(map(str, sorted({row["ranks"] for row in largest.values()})))
        if series:
            path = folder / f"bits-{key}.svg"
            figures.lines(path, f"False positives of truncated tags: {what}", "bits of the tag", "% (worst rank)", series,
                          logx=False, logy=False, note=f"{ranks} ranks, {note.partition(';')[0]}")
            drawn.append(path)
    return drawn


def ranks_label(results, wanted):
    """27/32 ranks: LULESH's cubes stand with the others' numbers."""
    sizes = sorted({row["ranks"] for row in results["rows"] if row["wanted"] == wanted})
    return "/".join(map(str, sizes)) + " ranks"
