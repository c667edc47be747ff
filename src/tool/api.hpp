// The procedures of the tool interface. REQUIRES of each: the caller holds the lock of tool/state.hpp, pointers that must
// point somewhere do, and, but for t_init_thread, the interface is initialised.
#pragma once

#include "base/status.hpp"
#include "mpi.h"

namespace heddle::api {

Status t_init_thread(int required, int* provided);
Status t_finalize();

// enumeration.cpp
Status t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len);
Status t_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len);

// cvar.cpp
Status t_cvar_get_num(int* num_cvar);
Status t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                       MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope);
Status t_cvar_get_index(const char* name, int* cvar_index);
Status t_cvar_handle_alloc(int cvar_index, void* obj_handle, MPI_T_cvar_handle* handle, int* count);
Status t_cvar_handle_free(MPI_T_cvar_handle* handle);
Status t_cvar_read(MPI_T_cvar_handle handle, void* buf);
Status t_cvar_write(MPI_T_cvar_handle handle, const void* buf);

// pvar.cpp
Status t_pvar_get_num(int* num_pvar);
Status t_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class,
                       MPI_Datatype* datatype, MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind,
                       int* readonly, int* continuous, int* atomic);
Status t_pvar_get_index(const char* name, int var_class, int* pvar_index);

// session.cpp
Status t_pvar_session_create(MPI_T_pvar_session* pe_session);
Status t_pvar_session_free(MPI_T_pvar_session* pe_session);
Status t_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                           int* count);
Status t_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle);
Status t_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle);
Status t_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle);
Status t_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf);
Status t_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf);
Status t_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle);
Status t_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf);

// category.cpp
Status t_category_get_num(int* num_cat);
Status t_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars,
                           int* num_pvars, int* num_categories);
Status t_category_get_num_events(int cat_index, int* num_events);
Status t_category_get_index(const char* name, int* cat_index);
Status t_category_get_cvars(int cat_index, int len, int indices[]);
Status t_category_get_pvars(int cat_index, int len, int indices[]);
Status t_category_get_events(int cat_index, int len, int indices[]);
Status t_category_get_categories(int cat_index, int len, int indices[]);
Status t_category_changed(int* update_number);

// event.cpp
Status t_source_get_num(int* num_sources);
Status t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                         MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                         MPI_Info* info);
Status t_source_get_timestamp(int source_index, MPI_Count* timestamp);
Status t_event_get_num(int* num_events);
Status t_event_get_info(int event_index, char* name, int* name_len, int* verbosity, MPI_Datatype array_of_datatypes[],
                        MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                        char* desc, int* desc_len, int* bind);
Status t_event_get_index(const char* name, int* event_index);
Status t_event_handle_alloc(int event_index, void* obj_handle, MPI_Info info,
                            MPI_T_event_registration* event_registration);
Status t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info);
Status t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used);
Status t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                           MPI_T_event_free_cb_function* free_cb_function);
Status t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info,
                                 void* user_data, MPI_T_event_cb_function* event_cb_function);
Status t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info info);
Status t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                 MPI_Info* info_used);
Status t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                   MPI_T_event_dropped_cb_function* dropped_cb_function);
Status t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer);
Status t_event_copy(MPI_T_event_instance event_instance, void* buffer);
Status t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp);
Status t_event_get_source(MPI_T_event_instance event_instance, int* source_index);

}  // namespace heddle::api
