"""What the table of the standard does not say about wrong arguments: what the sweep leaves out, expects and prepares, and of
which Kind (tests/bindings/sweep/kinds_*.c) an argument is.
"""

import re

# Left out, and why.
EXCLUDED = {
    "MPI_Init": "once in a program: tests/programs/init_states.c, misuse.c",
    "MPI_Init_thread": "once in a program: tests/programs/init_states.c, misuse.c",
    "MPI_Finalize": "ends MPI: tests/programs/misuse.c",
    "MPI_Abort": "ends the job, whatever its arguments: tests/programs/misuse.c",
    "MPI_T_finalize": "takes no argument, and would end the interface under the other calls",
    "MPI_Pcontrol": "does nothing with its arguments",
    "MPI_Wtime": "takes no argument and has no error",
    "MPI_Wtick": "takes no argument and has no error",
    "MPI_Aint_add": "adds any two integers and has no error",
    "MPI_Aint_diff": "subtracts any two integers and has no error",
}

# Integers and handles that are returned instead of a code: no value is an error, none may crash.
RETURNS_NO_CODE = re.compile(r"_(to|from)int$")

# The class of a call whose arguments are all right, where it is not MPI_SUCCESS.
EXPECTED = {
    "MPI_T_cvar_write": "MPI_T_ERR_CVAR_SET_NEVER",  # MPI is initialised
    # There is an instance only while a callback runs (tests/programs/tool_events.c).
    **{f"MPI_T_event_{n}": "MPI_T_ERR_INVALID_HANDLE" for n in ("read", "copy", "get_timestamp", "get_source")},
}

# What has to be done before and after each call.
AROUND = {
    "MPI_Buffer_attach": (None, "detach_from_process"),
    "MPI_Buffer_detach": ("attach_to_process", "detach_from_process"),
    "MPI_Comm_attach_buffer": (None, "detach_from_comm"),
    "MPI_Comm_detach_buffer": ("attach_to_comm", "detach_from_comm"),
    "MPI_Session_attach_buffer": (None, "detach_from_session"),
    "MPI_Session_detach_buffer": ("attach_to_session", "detach_from_session"),
    "MPI_Comm_delete_attr": ("set_comm_attribute", None),
    "MPI_Attr_delete": ("set_comm_attribute", None),
    "MPI_Type_delete_attr": ("set_type_attribute", None),
    "MPI_Info_delete": (None, "set_info_key"),
    "MPI_Win_delete_attr": ("set_win_attribute", None),
    # Each window is in the epoch that the call needs, and in none when the next one comes.
    **{f"MPI_{n}": ("lock_all", "end_epochs") for n in (
        "Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Rput", "Rget", "Raccumulate",
        "Rget_accumulate", "Win_unlock_all", "Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all",
        "Win_sync")},
    **{f"MPI_Win_{n}": (None, "end_epochs") for n in ("fence", "post", "lock", "lock_all")},
    "MPI_Win_start": ("post", "end_epochs"), "MPI_Win_complete": ("post_start", "end_epochs"),
    "MPI_Win_wait": ("post_start_complete", "end_epochs"), "MPI_Win_test": ("post_start_complete", "end_epochs"),
    "MPI_Win_unlock": ("lock", "end_epochs"),
    "MPI_Win_attach": (None, "detach_memory"), "MPI_Win_detach": ("attach_memory", "detach_memory"),
}

# With two processes, in one group and on an intercommunicator: the chapters that are swept, and what is beyond them; what
# needs an intercommunicator; what refuses one.
TOGETHER_CHAPTERS = {"collective", "collective_nonblocking", "collective_persistent", "message"}
TOGETHER_TOO = {f"MPI_Comm_{n}" for n in ("create", "dup", "dup_with_info", "split", "split_type", "test_inter")}
INTER_ONLY = {"MPI_Comm_remote_size", "MPI_Comm_remote_group", "MPI_Intercomm_create", "MPI_Intercomm_merge"}
INTER_REFUSED = {f"MPI_{n}{i}" for n in ("Scan", "Exscan", "Iscan", "Iexscan") for i in ("", "_init")} | {
    "MPI_Comm_create_group", "MPI_Cart_create", "MPI_Graph_create", "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent"} | {
    f"MPI_Win_{n}" for n in ("create", "create_dynamic", "allocate", "allocate_shared")}

COMMS = {"MPI_Cart": "cart", "MPI_Graph": "graph", "MPI_Dist_graph_neighbors": "dist"}
NEEDS_NO_TOPOLOGY = {"MPI_Cart_create", "MPI_Cart_map", "MPI_Graph_create", "MPI_Graph_map"}

# Kind of the model -> kind of the sweep, for arguments that are read.
IN = {
    "ERRHANDLER": "errhandler", "STATUS": "status", "COLOR": "color", "KEY": "any", "LOGICAL": "any",
    "SPLIT_TYPE": "split_type", "ORDER": "order", "TYPECLASS": "type_class", "TYPECLASS_SIZE": "class_size",
    "EXTRA_STATE": "any", "EXTRA_STATE2": "any", "ATTRIBUTE_VAL": "any", "ATTRIBUTE_VAL_10": "any",
    "FUNCTION": "function", "POLYFUNCTION": "function", "INFO_VALUE_LENGTH": "value_length",
    "ALLOC_MEM_NUM_BYTES": "memory_size", "POLYDTYPE_PACK_SIZE": "packed_size", "TAG": "send_tag", "ERROR_CODE": "error_code",
    "ERROR_CLASS": "error_class", "COMM_SIZE_PI": "positive", "ARRAY_LENGTH_PI": "positive", "NUM_DIMS": "ndims",
    "DIMENSION": "any", "INDEX": "direction", "DEGREE": "length", "RANK_NNI": "darray_rank",
    "CVAR_INDEX_SPECIAL": "tool_index", "CAT_INDEX": "tool_index", "CVAR_INDEX": "tool_index", "PVAR_INDEX": "tool_index",
    "EVENT_INDEX": "tool_index", "SOURCE_INDEX": "tool_index", "TOOLENUM_INDEX": "tool_index", "TOOLS_ENUM": "tool_enum",
    "THREAD_LEVEL": "tool_level", "PVAR_SESSION": "tool_session", "PVAR": "tool_pvar", "CVAR": "tool_cvar",
    "PVAR_CLASS": "tool_pvar_class", "TOOL_MPI_OBJ": "any", "CALLBACK_SAFETY": "tool_safety", "EVENT_REGISTRATION": "tool_registration",
    "EVENT_INSTANCE": "any", "EVENT_CB_FUNCTION": "any", "EVENT_DROP_CB_FUNCTION": "any", "EVENT_FREE_CB_FUNCTION": "any",
    "KEY_INDEX": "any", "SESSION": "session", "FILE": "file", "ARRAY_LENGTH": "length",
}
# For one-sided communication; the windows of which flavor.
WINDOW_IN = {
    "RMA_DISPLACEMENT_NNI": "target_disp", "POLYRMA_DISPLACEMENT": "disp_unit", "WINDOW_SIZE": "window_size",
    "WIN_ATTACH_SIZE": "window_size", "ASSERT": "assertion", "LOCK_TYPE": "lock_type",
}
WINDOWS = {"MPI_Win_shared_query": "shared_win", "MPI_Win_attach": "dynamic_win", "MPI_Win_detach": "dynamic_win",
           "MPI_Win_get_name": "named_win"}
IN_ARRAYS = {
    "RANK": "ranks", "RANK_NNI": "ranks", "INDEX": "node_ends", "DEGREE": "degrees", "DIMENSION": "dims", "WEIGHT": "weights",
    "LOGICAL": "flags", "COORDINATE": "coords", "DISTRIB_ENUM": "distributions", "DTYPE_DISTRIBUTION": "dargs",
    "PROCESS_GRID_SIZE": "grid", "REQUEST": "request_cell", "POLYDISPLACEMENT": "displs",
    "POLYDISPLACEMENT_AINT_COUNT": "bounds_wide", "DISPLACEMENT": "byte_displs_wide",
    "POLYDISPLACEMENT_COUNT": "item_bounds",
}
OUT = {
    "COMMUNICATOR": "out_comm", "DATATYPE": "out_type", "GROUP": "out_group", "INFO": "out_info", "OPERATION": "out_op",
    "ERRHANDLER": "out_errhandler", "REQUEST": "out_request", "MESSAGE": "out_message", "STATUS": "out_status",
    "BUFFER": "buffer", "C_BUFFER": "out_memory", "PVAR_SESSION": "tool_session_out", "PVAR": "tool_pvar_out",
    "CVAR": "tool_cvar_out", "SESSION": "out_session", "WINDOW": "out_win",
}
INOUT = {
    "COMMUNICATOR": "comm_end", "GROUP": "group_end", "INFO": "info_end", "OPERATION": "op_end", "DATATYPE": "type_end",
    "ERRHANDLER": "errhandler_end", "REQUEST": "request_cell", "MESSAGE": "message", "STATUS": "status", "BUFFER": "buffer",
    "DIMENSION": "open_dims", "PVAR_SESSION": "tool_session_end", "PVAR": "tool_pvar_end", "CVAR": "tool_cvar_end",
    "SESSION": "session_end", "WINDOW": "win_end", "POLYDISPLACEMENT_COUNT": "position", "POLYLOCATION": "position", "INFO_VALUE_LENGTH": "value_length_cell",
}

# Single arguments that are not what their kind in the model suggests: (procedure, parameter) -> kind of the sweep.
SINGLE = {
    ("MPI_Comm_free_keyval", "comm_keyval"): "comm_key_end", ("MPI_Keyval_free", "keyval"): "comm_key_end",
    ("MPI_Type_free_keyval", "type_keyval"): "type_key_end", ("MPI_Win_free_keyval", "win_keyval"): "win_key_end",
    ("MPI_Win_create_keyval", "win_keyval"): "out_win_key",
    ("MPI_Comm_create_keyval", "comm_keyval"): "out_comm_key", ("MPI_Keyval_create", "keyval"): "out_comm_key",
    ("MPI_Type_create_keyval", "type_keyval"): "out_type_key",
    ("MPI_Buffer_attach", "buffer"): "attached", ("MPI_Comm_attach_buffer", "buffer"): "attached",
    ("MPI_Session_attach_buffer", "buffer"): "attached",
    ("MPI_Session_get_nth_pset", "n"): "set_number", ("MPI_Session_get_nth_pset", "pset_len"): "set_length",
    ("MPI_Session_get_nth_pset", "pset_name"): "set_room", ("MPI_Session_get_pset_info", "pset_name"): "set_name",
    ("MPI_Group_from_session_pset", "pset_name"): "set_name",
    ("MPI_Comm_create_from_group", "stringtag"): "string_tag",
    # With a remote group of nobody the call is local, and looks at no leader.
    ("MPI_Intercomm_create_from_groups", "stringtag"): "name", ("MPI_Intercomm_create_from_groups", "local_leader"): "any",
    ("MPI_Intercomm_create_from_groups", "remote_leader"): "any",
    ("MPI_Intercomm_create_from_groups", "remote_group"): "nobody",
    ("MPI_Get_address", "location"): "location", ("MPI_Free_mem", "base"): "memory",
    # The null handles have names.
    ("MPI_Comm_get_name", "comm"): "named_comm", ("MPI_Type_get_name", "datatype"): "named_type",
    ("MPI_Intercomm_create", "local_comm"): "intracomm", ("MPI_Intercomm_create", "peer_comm"): "world",
    ("MPI_Intercomm_create", "local_leader"): "rank", ("MPI_Intercomm_create", "remote_leader"): "peer_rank",
    ("MPI_Comm_remote_size", "comm"): "intercomm", ("MPI_Comm_remote_group", "comm"): "intercomm",
    ("MPI_Intercomm_merge", "intercomm"): "intercomm",
    ("MPI_Cart_coords", "rank"): "rank", ("MPI_Graph_neighbors", "rank"): "rank",
    ("MPI_Graph_neighbors_count", "rank"): "rank",
    ("MPI_Cart_coords", "maxdims"): "room", ("MPI_Cart_get", "maxdims"): "room",
    ("MPI_Graph_get", "maxindex"): "room",
    # The graph of the sweep has no edges, so that it needs no room for them.
    ("MPI_Graph_get", "maxedges"): "length", ("MPI_Graph_neighbors", "maxneighbors"): "length",
    ("MPI_Graph_create", "edges"): "edges", ("MPI_Graph_map", "edges"): "edges",
    ("MPI_Graph_create", "nnodes"): "nodes", ("MPI_Graph_map", "nnodes"): "nodes",
    ("MPI_Dims_create", "nnodes"): "positive",
    ("MPI_Group_range_incl", "ranges"): "ranges", ("MPI_Group_range_excl", "ranges"): "ranges",
    ("MPI_Type_commit", "datatype"): "type_commit",
    ("MPI_Type_get_contents", "datatype"): "derived_type",
    ("MPI_Type_get_contents", "max_integers"): "three", ("MPI_Type_get_contents", "max_datatypes"): "one",
    # A vector's contents are integers alone.
    ("MPI_Type_get_contents", "max_addresses"): "length", ("MPI_Type_get_contents", "max_large_counts"): "length",
    ("MPI_Type_get_contents", "array_of_integers"): "out_three_ints",
    ("MPI_Type_delete_attr", "datatype"): "owned_type", ("MPI_Type_set_attr", "datatype"): "owned_type",
    ("MPI_Type_get_attr", "datatype"): "owned_type", ("MPI_Type_set_name", "datatype"): "owned_type",
    ("MPI_Type_match_size", "datatype"): "out_named_type", ("MPI_Type_get_value_index", "pair_type"): "out_named_type",
    ("MPI_Type_create_f90_complex", "newtype"): "out_named_type",
    ("MPI_Type_create_f90_integer", "newtype"): "out_named_type",
    ("MPI_Type_create_f90_real", "newtype"): "out_named_type",
    ("MPI_Type_create_f90_complex", "p"): "digits", ("MPI_Type_create_f90_complex", "r"): "powers",
    ("MPI_Type_create_f90_integer", "r"): "powers", ("MPI_Type_create_f90_real", "p"): "digits",
    ("MPI_Type_create_f90_real", "r"): "powers",
    ("MPI_Type_vector", "count"): "two", ("MPI_Type_create_hvector", "count"): "two",
    ("MPI_Type_vector", "stride"): "stride", ("MPI_Type_create_hvector", "stride"): "byte_stride",
    ("MPI_Type_create_subarray", "array_of_sizes"): "sizes", ("MPI_Type_create_subarray", "array_of_subsizes"): "subsizes",
    ("MPI_Type_create_subarray", "array_of_starts"): "starts", ("MPI_Type_create_darray", "array_of_gsizes"): "sizes",
    ("MPI_Pack", "outsize"): "packed_size", ("MPI_Unpack", "insize"): "packed_size",
    ("MPI_Op_commutative", "op"): "op",
    ("MPI_Request_free", "request"): "request_live", ("MPI_Cancel", "request"): "request_live",
    ("MPI_Start", "request"): "request_start", ("MPI_Startall", "array_of_requests"): "request_start",
    ("MPI_Grequest_complete", "request"): "grequest", ("MPI_Grequest_start", "request"): "out_grequest",
    ("MPI_Request_get_status", "request"): "request",
    ("MPI_Add_error_string", "errorcode"): "added_code", ("MPI_Remove_error_class", "errorclass"): "added_class",
    ("MPI_Remove_error_code", "errorcode"): "added_code", ("MPI_Remove_error_string", "errorcode"): "added_text",
    ("MPI_Abi_set_fortran_info", "info"): "info_read",
    ("MPI_Abi_set_fortran_booleans", "logical_true"): "logical",
    ("MPI_Abi_set_fortran_booleans", "logical_false"): "no_logical",
    ("MPI_Info_set", "info"): "info_written", ("MPI_Info_delete", "info"): "info_written",
    ("MPI_Info_delete", "key"): "known_info_key", ("MPI_Info_set", "value"): "info_value",
    ("MPI_Info_get", "value"): "out_info_value", ("MPI_Info_get_string", "value"): "out_info_value",
    ("MPI_Info_get_nthkey", "key"): "out_info_key", ("MPI_Info_get_nthkey", "n"): "key_number",
    ("MPI_Info_create_env", "argc"): "argc", ("MPI_Info_create_env", "argv"): "argv",
    # A status may be told anything.
    ("MPI_Status_set_error", "err"): "any", ("MPI_Status_set_source", "source"): "any", ("MPI_Status_set_tag", "tag"): "any",
    ("MPI_Status_set_elements", "count"): "elements", ("MPI_Status_set_elements_x", "count"): "elements",
    # Functions that may be null: MPI_COMM_NULL_COPY_FN and the like are.
    ("MPI_Comm_create_keyval", "comm_copy_attr_fn"): "optional_function",
    ("MPI_Comm_create_keyval", "comm_delete_attr_fn"): "optional_function",
    ("MPI_Keyval_create", "copy_fn"): "optional_function", ("MPI_Keyval_create", "delete_fn"): "optional_function",
    ("MPI_Type_create_keyval", "type_copy_attr_fn"): "optional_function",
    ("MPI_Type_create_keyval", "type_delete_attr_fn"): "optional_function",
    ("MPI_Win_create_keyval", "win_copy_attr_fn"): "optional_function",
    ("MPI_Win_create_keyval", "win_delete_attr_fn"): "optional_function",
    ("MPI_Register_datarep", "datarep"): "new_datarep",
    # MPI_CONVERSION_FN_NULL is null.
    ("MPI_Register_datarep", "read_conversion_fn"): "optional_function",
    ("MPI_Register_datarep", "write_conversion_fn"): "optional_function",
    ("MPI_File_set_errhandler", "errhandler"): "file_errhandler",
    ("MPI_Win_attach", "base"): "window_memory", ("MPI_Win_detach", "base"): "attached_memory",
    **{(f"MPI_{n}", "request"): "partitioned_send" for n in ("Pready", "Pready_range", "Pready_list")},
    **{(f"MPI_P{n}_init", "partitions"): "partitions" for n in ("send", "recv")},
    ("MPI_Parrived", "request"): "partitioned_receive", ("MPI_Parrived", "partition"): "partition",
    ("MPI_Pready", "partition"): "partition", ("MPI_Pready_range", "partition_low"): "partition",
    ("MPI_Pready_range", "partition_high"): "partition", ("MPI_Pready_list", "array_of_partitions"): "partition_list",
    ("MPI_Precv_init", "source"): "partitioned_source",
    # What would not fit: too much of the first, too little room in the second.
    **{(f"MPI_{n}", f"{a}_count"): "moved_count" for n, a in (
        ("Put", "origin"), ("Rput", "origin"), ("Get", "target"), ("Rget", "target"), ("Accumulate", "origin"),
        ("Raccumulate", "origin"), ("Get_accumulate", "origin"), ("Rget_accumulate", "origin"))},
    **{(f"MPI_{n}", f"{a}_count"): "filled_count" for n, a in (
        ("Put", "target"), ("Rput", "target"), ("Get", "origin"), ("Rget", "origin"), ("Accumulate", "target"),
        ("Raccumulate", "target"), ("Get_accumulate", "result"), ("Rget_accumulate", "result"))},
    ("MPI_T_cvar_write", "buf"): "tool_cvar_value",
    ("MPI_T_cvar_get_index", "name"): "tool_cvar_name", ("MPI_T_pvar_get_index", "name"): "tool_pvar_name",
    ("MPI_T_category_get_index", "name"): "tool_category_name", ("MPI_T_event_get_index", "name"): "tool_event_name",
    ("MPI_T_event_read", "element_index"): "any",
    ("MPI_T_event_handle_alloc", "event_registration"): "tool_registration_out",
    ("MPI_T_event_handle_free", "event_registration"): "tool_registration_end",
}
WIDE_TWINS = {"count", "moved_count", "filled_count", "disp_unit", "counts", "block_length", "block_lengths", "displs", "stride", "two", "sizes", "subsizes", "starts",
              "position", "bytes", "item_bounds", "packed_size", "lb", "elements"}
