"""What the tables do not say about procedures: when they may be called, what they may ignore, where they belong."""

import re

# MPI 5.0, 11.4.1 and 11.6.2: may be called before initialisation and after finalisation. The clock, the addresses and
# the integer forms of handles are ours to add: they touch no state that initialisation makes.
ANY_TIME = set("""
Abi_get_fortran_booleans Abi_get_fortran_info Abi_get_info Abi_get_version Abi_set_fortran_booleans Abi_set_fortran_info
Initialized Finalized Get_version Get_library_version Get_hw_resource_info
Info_create Info_create_env Info_set Info_delete Info_get Info_get_string Info_get_valuelen Info_get_nkeys
Info_get_nthkey Info_dup Info_free
Session_init Session_create_errhandler Session_call_errhandler Errhandler_free
Error_string Error_class Add_error_class Add_error_code Add_error_string Remove_error_class Remove_error_code
Remove_error_string
Aint_add Aint_diff Get_address Wtime Wtick Pcontrol Init Init_thread
""".split())

# The same C++ function implements these: old names, and forms with MPI_Count from before the _c twins.
SAME_AS = {
    "MPI_Attr_delete": "comm_delete_attr", "MPI_Attr_get": "comm_get_attr", "MPI_Attr_put": "comm_set_attr",
    "MPI_Keyval_create": "comm_create_keyval", "MPI_Keyval_free": "comm_free_keyval",
    "MPI_Get_elements_x": "get_elements", "MPI_Status_set_elements_x": "status_set_elements",
    "MPI_Type_size_x": "type_size", "MPI_Type_get_extent_x": "type_get_extent",
    "MPI_Type_get_true_extent_x": "type_get_true_extent",
}

# Whole bodies that need neither objects nor errors.
BODIES = {
    "MPI_Aint_add": "  return base + disp;\n",
    "MPI_Aint_diff": "  return addr1 - addr2;\n",
    "MPI_Pcontrol": "  return MPI_SUCCESS;  // for profilers to replace (MPI 5.0, 15.2.4)\n",
}

OBJECTS = {"COMMUNICATOR": "Comm", "GROUP": "Group", "DATATYPE": "Datatype", "OPERATION": "Op", "INFO": "Info",
           "ERRHANDLER": "Errhandler", "SESSION": "Session", "WINDOW": "Win", "FILE": "File"}

IN_PLACE = {
    "sendbuf": {"Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Exscan", "Scan",
                "Reduce_scatter", "Reduce_scatter_block"},
    "sendbuf at root": {"Gather", "Gatherv", "Reduce"},
    "recvbuf at root": {"Scatter", "Scatterv"},
}
# Their arrays are as long as this rank has neighbours, and MPI_IN_PLACE means nothing to them.
NEIGHBORHOOD = {"Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv",
                "Neighbor_alltoallw"}
COLLECTIVES = set().union(*IN_PLACE.values()) | {"Barrier", "Bcast"} | NEIGHBORHOOD
REDUCTIONS = {"Allreduce", "Reduce", "Scan", "Exscan", "Reduce_scatter", "Reduce_scatter_block", "Reduce_local"}

# Buffer -> the parameters that say how many elements of which type it holds.
BUFFER_COUNTS = {
    "buf": ("count",), "buffer": ("count",), "inbuf": ("incount", "count", "insize"), "inoutbuf": ("count",),
    "outbuf": ("outcount", "outsize"),
    "sendbuf": ("sendcount", "sendcounts", "count", "recvcounts", "recvcount"),
    "recvbuf": ("recvcount", "recvcounts", "count"),
    "origin_addr": ("origin_count",), "result_addr": ("result_count",), "base": ("size",),
}
BUFFER_TYPES = {
    "buf": ("datatype",), "buffer": ("datatype",), "inbuf": ("datatype",), "inoutbuf": ("datatype",),
    "outbuf": ("datatype",), "sendbuf": ("sendtype", "sendtypes", "datatype"),
    "recvbuf": ("recvtype", "recvtypes", "datatype"),
    "origin_addr": ("origin_datatype",), "result_addr": ("result_datatype",),
}
# Of the items that a count counts, and the displacements that go with counts.
COUNT_TYPES = {"sendcount": "sendtype", "recvcount": "recvtype", "sendcounts": "sendtype", "recvcounts": "recvtype",
               **{f"{side}_count": f"{side}_datatype" for side in ("origin", "target", "result")}}
DISPLACEMENTS = {"sendcounts": ("sdispls", "displs"), "recvcounts": ("rdispls", "displs")}
# Each rank has a block of so many items in the buffer.
BLOCKS = {"Gather": "recvcount", "Scatter": "sendcount", "Allgather": "recvcount", "Neighbor_allgather": "recvcount",
          "Alltoall": "sendcount recvcount", "Neighbor_alltoall": "sendcount recvcount", "Reduce_scatter_block": "recvcount"}


def kind_of_collective(stem):
    """Allgather for MPI_Iallgather and MPI_Allgather_init; None for what is not a collective."""
    name = stem.removeprefix("MPI_").removesuffix("_init")
    for candidate in (name, name[1:].capitalize() if name.startswith("I") else None):
        if candidate in COLLECTIVES or candidate == "Reduce_local":
            return candidate
    return None


def chapter(f):
    n = f.stem.removeprefix("MPI_")
    if n.startswith("T_"):
        return "tool"
    if n.endswith(("_toint", "_fromint")):
        return "handle"
    if n.startswith("File_") or n == "Register_datarep":
        return "file"
    if n.startswith("Win_") or re.fullmatch(
            r"Put|Get|Accumulate|Get_accumulate|Rput|Rget|Raccumulate|Rget_accumulate|Fetch_and_op|Compare_and_swap",
            n):
        return "window"
    if re.match(r"(Ineighbor|Neighbor|Cart|Graph|Dist_graph|Topo_|Dims_)", n):
        return "topology"
    if n.startswith("Session_") or re.match(
            r"Comm_(spawn|accept|connect|join|disconnect|get_parent)|(Open|Close)_port|(Publish|Unpublish|Lookup)_name",
            n):
        return "process"
    if kind_of_collective(f.stem) and n != "Reduce_local":
        return "collective_persistent" if n.endswith("_init") else (
            "collective_nonblocking" if n.startswith("I") else "collective")
    if re.search(r"keyval|_attr$|^attr_", n.lower()):
        return "attribute"
    if n.startswith("Op_") or n == "Reduce_local":
        return "op"
    if re.search(r"errhandler|^Error_|^Errhandler_|^(Add|Remove)_error", n):
        return "error"
    if n.startswith(("Type_", "Pack", "Unpack", "Get_address", "Aint_")):
        return "datatype"
    if n.startswith("Info_"):
        return "info"
    if re.search("buffer", n.lower()):
        return "buffer"
    if n.startswith(("Comm_", "Intercomm_")):
        return "communicator"
    if n.startswith("Group_"):
        return "group"
    if re.match(r"(Pready|Parrived|Psend|Precv)", n):
        return "partitioned"
    if re.match(r"(Wait|Test|Start|Request_|Status_|Cancel|Get_count|Get_elements|Grequest)", n):
        return "request"
    if re.match(r"(Init|Finalize|Abort|Abi_|Get_|Query|Is_thread|W|Pcontrol|Alloc_mem|Free_mem)", n):
        return "environment"
    return "message"


# The bytes that MPI_Pack writes and MPI_Unpack reads have no datatype.
BYTES = {(b, s) for b, names in (("outbuf", ("MPI_Pack", "MPI_Pack_external")),
                                 ("inbuf", ("MPI_Unpack", "MPI_Unpack_external"))) for s in names}
# Constructors of datatypes: MPI_Type_get_contents tells which form a type was made with.
TELLS_TWIN = {f"MPI_Type_{n}" for n in (
    "contiguous", "vector", "indexed", "create_hvector", "create_hindexed", "create_indexed_block",
    "create_hindexed_block", "create_struct", "create_subarray", "create_darray", "create_resized")}
# One-sided: who has one item in each buffer; what goes where and has to fit; who may be given MPI_NO_OP, which ignores the
# origin; the assertions that mean something (MPI 5.0, 12.5.5), beside MPI_MODE_NOCHECK, which is never an error.
ONE_ITEM = {"MPI_Fetch_and_op", "MPI_Compare_and_swap"}
MOVES = {"Put": "origin target", "Get": "target origin", "Accumulate": "origin target",
         "Get_accumulate": "origin target result"}
TAKES_NO_OP = {"MPI_Get_accumulate", "MPI_Rget_accumulate", "MPI_Fetch_and_op"}
ASSERTIONS = {"MPI_Win_fence": "NOSTORE NOPUT NOPRECEDE NOSUCCEED", "MPI_Win_post": "NOSTORE NOPUT", "MPI_Win_start": "",
              "MPI_Win_lock": "", "MPI_Win_lock_all": ""}
# A null request is an error here; elsewhere it is a request that is complete.
NEEDS_REQUEST = {"MPI_Start", "MPI_Request_free", "MPI_Cancel", "MPI_Pready", "MPI_Pready_range", "MPI_Pready_list",
                 "MPI_Grequest_complete"}
# What programs call again and again lies together, with what it calls (docs/decisions/hot-pages.md).
HOT = {f"MPI_{name}" for name in ("Send", "Recv", "Isend", "Irecv", "Wait", "Waitall", "Start", "Barrier", "Bcast", "Reduce", "Allreduce",
                                  "Allgather", "Alltoall", "Reduce_scatter_block")}
# What p2p/api_at_once.hpp can do in one go for the usual arguments.
AT_ONCE = {"MPI_Send", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall"}
# Ignored at all ranks of the local communicator but its leader (MPI 5.0, 7.6.2): null where it is nothing.
AT_THE_LEADER = {("MPI_Intercomm_create", "peer_comm"), ("MPI_Intercomm_create_from_groups", "remote_group")}
# What they are given as error handler is that of what they make, and hears of their own failures (MPI 5.0, 7.4.2, 11.3.1).
MAKERS = {"MPI_Session_init", "MPI_Comm_create_from_group", "MPI_Intercomm_create_from_groups"}
# Whose ranks first of all agree that they can go on.
AGREE_FIRST = {"MPI_Cart_create", "MPI_Graph_create", "MPI_Dist_graph_create", "MPI_Dist_graph_create_adjacent"}
# They have no file, and their errors go to MPI_FILE_NULL's handler all the same (MPI 5.0, 14.7).
CONCERNS_FILES = {"MPI_Register_datarep", "MPI_File_open", "MPI_File_delete"}
# Pointers that may be null, or that the C++ function judges together with another argument.
NULLABLE = {("MPI_Info_get_string", "value"), ("MPI_Comm_set_attr", "attribute_val"), ("MPI_Attr_put", "attribute_val"),
            ("MPI_Type_set_attr", "attribute_val"), ("MPI_Win_set_attr", "attribute_val"), ("MPI_Get_address", "location"), ("MPI_Free_mem", "base"),
            ("MPI_Session_get_nth_pset", "pset_name"), ("MPI_Register_datarep", "read_conversion_fn"),
            ("MPI_Register_datarep", "write_conversion_fn")}

# What a chapter's functions include, where it is not call.hpp.
FRAMES = {"file": "call_file", "tool": "call_tool", "topology": "call_topology", "window": "call_window"}
TITLES = {
    "attribute": "Attributes: keys and values.",
    "buffer": "Buffers for buffered sends.",
    "collective": "Blocking collective operations.",
    "collective_nonblocking": "Nonblocking collective operations.",
    "collective_persistent": "Persistent collective operations.",
    "communicator": "Communicators.",
    "datatype": "Datatypes, packing, addresses.",
    "environment": "Start, end, versions, clock, memory.",
    "error": "Error handlers, classes, codes, strings.",
    "file": "Files.",
    "group": "Groups.",
    "handle": "Integer forms of handles.",
    "info": "Info objects.",
    "message": "Point-to-point messages.",
    "op": "Reduction operations.",
    "partitioned": "Partitioned messages.",
    "process": "Sessions, dynamic processes, name service.",
    "request": "Requests and statuses.",
    "tool": "The tool interface.",
    "topology": "Topologies and neighbourhood collectives.",
    "window": "One-sided communication.",
}
