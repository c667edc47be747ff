"""The ABI as Python objects: abi/mpi-abi.json says which names and values exist, pympistandard says how each is called.

Both tables are facts; nothing here decides how Heddle implements a procedure.
"""

import dataclasses
import importlib.resources
import json
import pathlib

import pympistandard

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Param:
    """One C parameter of one C function."""

    name: str
    kind: str  # pympistandard's kind, such as POLYXFER_NUM_ELEM_NNI
    direction: str  # in, out, inout
    length: object  # None for a scalar; else the name of the parameter that holds the length, "*", or a list
    pointer: object
    constant: bool
    root_only: bool
    type: str  # the C type without the name: "const void*"
    array: str  # what follows the name: "", "[]", "[][3]"

    @property
    def declaration(self):
        if self.kind == "VARARGS":
            return "..."
        return f"{self.type} {self.name}{self.array}"

    @property
    def is_array(self):
        return self.length is not None and self.kind != "STRING"


@dataclasses.dataclass(frozen=True)
class Function:
    name: str  # MPI_Send_c
    stem: str  # MPI_Send: the name that both twins share
    returns: str
    wide: bool  # the _c twin
    params: tuple

    @property
    def api(self):
        """The name of the C++ function that implements it."""
        return self.stem.removeprefix("MPI_").lower()

    def prototype(self, prefix=""):
        params = ", ".join(p.declaration for p in self.params) or "void"
        return f"{self.returns} {prefix}{self.name}({params})"

    def param(self, name):
        return next(p for p in self.params if p.name == name)


class Model:
    def __init__(self):
        abi = json.loads((ROOT / "abi/mpi-abi.json").read_text())
        self.abi = abi
        self.constants = abi["constants"]
        self.handles = abi["handles"]
        self.typedef_names = abi["typedefs"]
        pympistandard.use_api_version()
        self._expressions = {}
        for procedure in pympistandard.PROCEDURES.values():
            for expression in procedure.express.all_iso_c:
                self._expressions[expression.name] = expression
        self._callbacks = {}
        for callback in pympistandard.CALLBACKS.values():
            for expression in callback.express.all_iso_c:
                self._callbacks[expression.name] = expression
        database = json.loads((importlib.resources.files("pympistandard.data") / "apis.json").read_text())
        self._raw = {entry["name"]: entry for entry in database.values()}
        names = {f["name"] for f in abi["functions"]}
        self.functions = [self._function(f, names) for f in abi["functions"]]

    def _function(self, record, names):
        name = record["name"]
        # The base form of these two takes an MPI_Count already; the ABI lists a _c name all the same.
        only_form = {"MPI_Psend_init_c": "MPI_Psend_init", "MPI_Precv_init_c": "MPI_Precv_init"}
        source = only_form.get(name, name)
        expression = self._expressions[source]
        wide = name.endswith("_c") and name.removesuffix("_c") in names
        stem = name.removesuffix("_c") if wide else name
        raw = {p["name"]: p for p in self._raw[stem]["parameters"]}
        params = tuple(_param(stem, p, raw[p.name]) for p in expression.parameters)
        if expression.return_type != record["returns"]:
            raise SystemExit(f"{name}: the two tables disagree about what it returns")
        return Function(name, stem, record["returns"], wide, params)

    def typedefs(self):
        """The callback types, in the ABI's order, as C declarations."""
        for text in self.typedef_names:
            if "=" in text:
                new, old = (s.strip() for s in text.split("="))
                yield f"typedef {old} {new};"
            else:
                e = self._callbacks[text]
                params = ", ".join(_plain(p) for p in e.parameters)
                yield f"typedef {e.return_type} ({e.name})({params});"


def _plain(parameter):
    return "..." if "ldots" in str(parameter.type) else str(parameter)


# pympistandard prints an array of strings as one string.
_ARRAYS_OF_STRINGS = {("MPI_Info_create_env", "argv"): "char*"}


# The receive buffer of MPI_Scatterv_init counts at every rank, as that of MPI_Scatterv.
_NOT_AT_ROOT_ONLY = {("MPI_Scatterv_init", "recvbuf")}


def _param(function, expression, raw):
    kind = raw["kind"]
    constant = bool(raw["constant"])
    type_ = "" if kind == "VARARGS" else ("const " if constant else "") + str(expression.type)
    type_ = _ARRAYS_OF_STRINGS.get((function, expression.name), type_)
    return Param(expression.name, kind, raw["param_direction"], raw["length"], raw["pointer"], constant,
                 raw["root_only"] and (function, expression.name) not in _NOT_AT_ROOT_ONLY, type_, expression.array)
