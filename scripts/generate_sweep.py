"""tests/bindings/generated: the tables of the sweep of bad input (tests/bindings/sweep/sweep.h).

For each implemented procedure: how it is called with an array of words, and of which Kind each argument is. The kinds, with
their good and wrong values, are written by hand in tests/bindings/sweep/kinds_*.c; this file decides which argument is of
which kind, from what the table of the standard says about it; generate_sweep_tables.py has the exceptions.
"""

from generate_sweep_tables import (
    AROUND, COMMS, EXCLUDED, EXPECTED, IN, IN_ARRAYS, INOUT, INTER_ONLY, INTER_REFUSED, NEEDS_NO_TOPOLOGY, OUT, RETURNS_NO_CODE, SINGLE,
    TOGETHER_CHAPTERS, TOGETHER_TOO, WIDE_TWINS, WINDOW_IN, WINDOWS)
from generate_tables import IN_PLACE, NEIGHBORHOOD, ONE_ITEM, TAKES_NO_OP, TITLES, chapter, kind_of_collective


def is_wide(p):
    return p.type.removeprefix("const ").strip("*[] ") != "int"


def kind_in_tool(f, p):
    if p.direction == "in":
        if p.kind == "ARRAY_LENGTH":
            return "tool_length"
        if p.kind == "BUFFER":
            return "tool_values"
        if p.kind == "INFO":
            return "any"
        return IN[p.kind]
    if p.kind == "BUFFER":
        return "tool_values"
    if p.is_array:
        return "tool_indices" if p.name == "indices" else "optional"
    if "_handle_get_info" in f.stem or "_callback_get_info" in f.stem:
        return "tool_info_out"
    if f.stem.endswith(("_get_info", "_get_item")) and p.kind not in ("PVAR", "CVAR"):
        return {"STRING": "tool_text", "STRING_LENGTH": "tool_text_length"}.get(
            p.kind, "optional")
    if p.kind in ("PVAR", "CVAR", "PVAR_SESSION"):
        return (OUT if p.direction == "out" else INOUT)[p.kind]
    return "tool_out"


def kind_of_comm(f):
    for start, kind in COMMS.items():
        if f.stem.startswith(start) and f.stem not in NEEDS_NO_TOPOLOGY:
            return kind
    if kind_of_collective(f.stem) in NEIGHBORHOOD:
        return "topology"
    return "intracomm" if chapter(f) == "topology" and f.stem not in INTER_REFUSED else "comm"


def kind_of_type(f, p):
    moves = any(q.kind == "BUFFER" for q in f.params)
    if p.is_array:
        return "data_types" if moves else "types"
    if chapter(f) == "window" and f.stem in ONE_ITEM:
        return "fetched_type" if any(q.kind == "OPERATION" for q in f.params) else "swapped_type"
    if chapter(f) == "window" and any(q.kind == "OPERATION" for q in f.params):
        return "accumulated_type"
    if any(q.kind == "OPERATION" for q in f.params):
        return "reduced_type"
    return "data_type" if moves else "type"


def kind_of_buffer(f, p):
    c = kind_of_collective(f.stem)
    place = {"sendbuf": IN_PLACE["sendbuf"] | IN_PLACE["sendbuf at root"], "recvbuf": IN_PLACE["recvbuf at root"]}
    return "buffer_or_in_place" if c in place.get(p.name, ()) else "buffer"


def kind_of_count(f, p):
    """Of elements of a datatype."""
    if "blocklength" in p.name:
        return "block_lengths" if p.is_array else "block_length"
    return "counts" if p.is_array else "count"


def kind_in_window(f, p):
    """Of what only one-sided communication has; None for the rest."""
    if p.kind == "WINDOW":
        return WINDOWS.get(f.stem, "win")
    if p.kind == "RANK_NNI":
        return "target_rank" if p.name == "target_rank" else "locked_rank"
    if p.kind == "OPERATION":
        return "accumulate_op" if f.stem not in TAKES_NO_OP else "get_accumulate_op"
    return WINDOW_IN.get(p.kind)


def kind_of_rank(f, p):
    return {"dest": "dest", "source": "source", "root": "root"}.get(p.name)


def kind_of_key(f, p):
    own = {"MPI_Type": "type_key", "MPI_Win_": "win_key"}.get(f.stem[:8], "comm_key")
    return own + ("_read" if "get" in f.stem else "_written")


def kind_of_text(f, p):
    if p.direction == "in":
        return {"key": "info_key", "datarep": "datarep"}.get(p.name, "name")
    size = {"MPI_MAX_OBJECT_NAME": "out_object_name", "MPI_MAX_PROCESSOR_NAME": "out_processor_name",
            "MPI_MAX_LIBRARY_VERSION_STRING": "out_library_version", "MPI_MAX_ERROR_STRING": "out_error_string"}
    return size[p.length]


def kind(f, p):
    """The name of the Kind, without `kind_`."""
    try:
        found = SINGLE.get((f.stem, p.name)) or general_kind(f, p)
    except KeyError:
        found = None
    if found is None:
        raise SystemExit(f"scripts/generate_sweep.py: {p.name} of {f.stem} is {p.direction} {p.kind}; say of which Kind of "
                         "tests/bindings/sweep/kinds_*.c it is")
    return found + "_wide" if found in WIDE_TWINS and is_wide(p) else found


def general_kind(f, p):
    if chapter(f) == "tool":
        return kind_in_tool(f, p)
    if RETURNS_NO_CODE.search(f.stem):
        return "any_handle" if f.stem.endswith("_toint") else "any_number"
    if chapter(f) == "window" and p.direction == "in" and kind_in_window(f, p):
        return kind_in_window(f, p)
    if chapter(f) == "window" and p.kind == "C_BUFFER":
        return "out_word"  # the window's memory, which goes with it
    if p.kind == "STRING":
        return kind_of_text(f, p)
    if p.kind == "BUFFER":
        return kind_of_buffer(f, p)
    if p.direction == "out":
        if p.is_array:
            return "out_status" if p.kind == "STATUS" else "out_word"
        return OUT.get(p.kind) or ("out_word" if is_wide(p) else "out_int")
    if p.direction == "inout":
        return INOUT[p.kind]
    if p.kind == "COMMUNICATOR":
        return kind_of_comm(f)
    if p.kind == "GROUP":
        return "group"
    if p.kind == "OPERATION":
        return "reduction"
    if p.kind == "INFO":
        return "info_read" if f.stem.startswith("MPI_Info_") else "info"
    if p.kind == "DATATYPE":
        return kind_of_type(f, p)
    if p.kind == "KEYVAL":
        return kind_of_key(f, p)
    if p.kind == "TAG":
        receives = p.name == "recvtag" or (p.name == "tag" and any(q.name == "source" for q in f.params))
        return "recv_tag" if receives else "send_tag"
    if p.is_array:
        return IN_ARRAYS.get(p.kind) or ("displs" if "DISPLACEMENT" in p.kind else kind_of_count(f, p))
    if p.kind == "RANK":
        return kind_of_rank(f, p)
    if p.kind.startswith("POLYDISPLACEMENT"):
        return "lb" if p.name == "lb" else "extent"
    if "NUM_BYTES" in p.kind and p.kind != "ALLOC_MEM_NUM_BYTES":
        return "bytes"
    if p.kind.startswith("ARRAY_LENGTH") and any(q.kind == "REQUEST" for q in f.params):
        return "requests_length"
    if p.kind == "ARRAY_LENGTH_NNI":
        return "length"
    return IN.get(p.kind) or kind_of_count(f, p)


def looks(f, p):
    """Which ranks of an intercommunicator look at the argument."""
    c = kind_of_collective(f.stem)
    if c in ("Gather", "Gatherv", "Scatter", "Scatterv") and p.name not in ("root", "comm", "info", "request"):
        of_root = "recv" if c.startswith("Gather") else "send"
        return "kRootLooks" if p.name.startswith(of_root) or p.name == "displs" else "kOthersLook"
    if c == "Reduce" and p.kind == "BUFFER":
        return "kRootLooks" if p.name == "recvbuf" else "kOthersLook"
    return "kAllLook"


def argument(i, p):
    type_ = p.type
    if p.array == "[][3]":
        type_ = "int(*)[3]"
    elif p.array:
        type_ += "*"
    elif type_.endswith("_cb_function"):
        type_ += "*"
    return f"({type_})a[{i}]"


def together(f):
    if f.stem in INTER_ONLY:
        return "kOnlyInterSwept"
    if f.stem in INTER_REFUSED:
        return "kOnlyRefusesInter" if chapter(f) == "topology" else "kRefusesInter"
    return "kSwept" if chapter(f) in TOGETHER_CHAPTERS or f.stem in TOGETHER_TOO else "kNever"


def procedure(f):
    arguments = ", ".join(argument(i, p) for i, p in enumerate(f.params))
    unused = "" if f.params else "  (void)a;\n"
    call = f"{f.name}({arguments})"
    if RETURNS_NO_CODE.search(f.stem):
        body = f"  (void){call};\n  return MPI_SUCCESS;\n"
    else:
        body = f"  return {call};\n"
    thunk = f"static int call_{f.name}(const Word* a) {{\n{unused}{body}}}\n"
    before, after = AROUND.get(f.stem, (None, None))
    fields = [f'"{f.name}"', f"call_{f.name}", EXPECTED.get(f.stem, "MPI_SUCCESS"), before or "NULL", after or "NULL",
              together(f)]
    parameters = ",\n     ".join(f'{{"{p.name}", &kind_{kind(f, p)}, {looks(f, p)}}}' for p in f.params)
    return thunk, f"  {{{', '.join(fields)},\n    {{{parameters or '{NULL, NULL, kAllLook}'}}}}},\n"


HEAD = """\
// {title} The sweep's table.
// Generated by scripts/generate. Do not edit.
// clang-format off
#include "sweep/sweep.h"

"""


def table(name, functions):
    thunks, rows = zip(*(procedure(f) for f in functions))
    kinds = sorted({kind(f, p) for f in functions for p in f.params})
    hooks = sorted({h for f in functions for h in AROUND.get(f.stem, ()) if h})
    declared = "".join(f"extern const Kind kind_{k};\n" for k in kinds) + "".join(f"void {h}(void);\n" for h in hooks)
    return (HEAD.format(title=TITLES[name]) + declared + "\n" + "\n".join(thunks)
            + "\nstatic const Procedure procedures[] = {\n" + "".join(rows) + "};\n\n"
            + f'extern const Chapter chapter_{name};\n'
            + f'const Chapter chapter_{name} = {{"{name}", procedures, sizeof procedures / sizeof *procedures}};\n')


def generate(model, missing):
    """{file name: text} for tests/bindings/generated."""
    known = {f.stem for f in model.functions}
    for table_ in (EXCLUDED, EXPECTED, AROUND):
        for stem in table_:
            if stem not in known:
                raise SystemExit(f"scripts/generate_sweep_tables.py names {stem}, which the ABI does not have")
    parameters = {(f.stem, p.name) for f in model.functions for p in f.params}
    for stem, name in SINGLE:
        if (stem, name) not in parameters:
            raise SystemExit(f"scripts/generate_sweep_tables.py names {name} of {stem}, which has no such parameter")
    chapters = {}
    for f in model.functions:
        if f.name not in missing and f.stem not in EXCLUDED:
            chapters.setdefault(chapter(f), []).append(f)
    files = {f"sweep_{name}.c": table(name, functions) for name, functions in sorted(chapters.items())}
    names = sorted(chapters)
    files["sweep_chapters.c"] = (
        HEAD.format(title="All chapters.") + "".join(f"extern const Chapter chapter_{n};\n" for n in names)
        + "\nconst Chapter* const chapters[] = {\n" + "".join(f"  &chapter_{n},\n" for n in names) + "  NULL};\n")
    return files
