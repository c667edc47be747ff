/* The C interface of Portals 4, as libportals.so.4 has it.
 *
 * A process opens network interfaces (NI). A target allocates entries of an interface's portal table (PT) and appends list
 * entries (LE), or match list entries (ME), which say where incoming data lands. An initiator describes memory by memory
 * descriptors (MD), and puts, gets and updates atomically. Both learn what happened from event queues (EQ) and counting
 * events (CT). docs/portals.md says what Heddle makes of it, and how a program starts.
 *
 * Every function but PtlFini and PtlAbort returns one of the codes below. Any thread may call any function; PtlAbort may also
 * be called in a signal handler. */
#ifndef HEDDLE_PORTALS4_H
#define HEDDLE_PORTALS4_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define PTL_OPEN_ENUM : int /* a caller may pass any value, as from C */
#else
#define PTL_OPEN_ENUM
#endif

#define PTL_MAJOR_VERSION 4
#define PTL_MINOR_VERSION 3

/* What functions return. */
enum ptl_retvals {
  PTL_OK = 0,
  PTL_ARG_INVALID,     /* an argument is wrong, or names something that is not there (any more) */
  PTL_CT_NONE_REACHED, /* PtlCTPoll: no counter got there in time */
  PTL_EQ_DROPPED,      /* an event is returned, and some before it were lost: the queue was full */
  PTL_EQ_EMPTY,        /* no event, or none in time */
  PTL_FAIL,            /* anything else */
  PTL_IGNORED,         /* a map cannot be set (Heddle always can) */
  PTL_IN_USE,          /* what is to go is still needed */
  PTL_INTERRUPTED,     /* what was waited for was freed by another thread */
  PTL_LIST_TOO_LONG,   /* max_list_size */
  PTL_NO_INIT,         /* PtlInit was not called, or failed */
  PTL_NO_SPACE,        /* a limit of the interface, or memory */
  PTL_PID_IN_USE,      /* another process of the job has that one */
  PTL_PT_EQ_NEEDED,    /* flow control needs an event queue */
  PTL_PT_FULL,         /* no portal table entry is left */
  PTL_PT_IN_USE,       /* this portal table entry is taken */
  PTL_ABORTED          /* PtlAbort was called */
};

typedef uint64_t ptl_size_t;
typedef uint64_t ptl_match_bits_t;
typedef uint64_t ptl_hdr_data_t; /* 64 bits that travel with a message */
typedef uint32_t ptl_pt_index_t;
typedef uint32_t ptl_interface_t;
typedef uint32_t ptl_nid_t; /* of a node */
typedef uint32_t ptl_pid_t; /* of a process on it */
typedef uint32_t ptl_rank_t;
typedef uint32_t ptl_uid_t;
typedef uint32_t ptl_time_t; /* milliseconds */
typedef int64_t ptl_sr_value_t;
typedef uint8_t ptl_ni_fail_t;

typedef uint32_t ptl_handle_any_t;
typedef ptl_handle_any_t ptl_handle_ni_t;
typedef ptl_handle_any_t ptl_handle_eq_t;
typedef ptl_handle_any_t ptl_handle_ct_t;
typedef ptl_handle_any_t ptl_handle_md_t;
typedef ptl_handle_any_t ptl_handle_le_t;
typedef ptl_handle_any_t ptl_handle_me_t;

#define PTL_INVALID_HANDLE ((ptl_handle_any_t)0xffffffff)
#define PTL_EQ_NONE ((ptl_handle_eq_t)0xfffffffe)
#define PTL_CT_NONE ((ptl_handle_ct_t)0xfffffffd)
#define PTL_IFACE_DEFAULT ((ptl_interface_t)0xffffffff)
#define PTL_NID_ANY ((ptl_nid_t)0xffffffff)
#define PTL_PID_ANY ((ptl_pid_t)0xffffffff)
#define PTL_RANK_ANY ((ptl_rank_t)0xffffffff)
#define PTL_UID_ANY ((ptl_uid_t)0xffffffff)
#define PTL_PT_ANY ((ptl_pt_index_t)0xffffffff)
#define PTL_TIME_FOREVER ((ptl_time_t)0xffffffff)
#define PTL_SIZE_MAX ((ptl_size_t)0xffffffffffffffff)

/* A process: by its rank on a logical interface, by node and process on a physical one. */
typedef union {
  ptl_rank_t rank;
  struct {
    ptl_nid_t nid;
    ptl_pid_t pid;
  } phys;
} ptl_process_t;

/* ---- The library ---- */

/* Joins the job, by what its launcher has put into the environment. Counted: each call wants its PtlFini. */
int PtlInit(void);
void PtlFini(void);
/* From now on, what waits in Portals returns PTL_ABORTED. */
void PtlAbort(void);

/* ---- Network interfaces ---- */

#define PTL_NI_MATCHING (1u << 0)
#define PTL_NI_NO_MATCHING (1u << 1)
#define PTL_NI_LOGICAL (1u << 2)
#define PTL_NI_PHYSICAL (1u << 3)

/* How an operation ended: ni_fail_type of an event. */
#define PTL_NI_OK ((ptl_ni_fail_t)0)
#define PTL_NI_UNDELIVERABLE ((ptl_ni_fail_t)1)
#define PTL_NI_PT_DISABLED ((ptl_ni_fail_t)2)
#define PTL_NI_DROPPED ((ptl_ni_fail_t)3)
#define PTL_NI_PERM_VIOLATION ((ptl_ni_fail_t)4) /* the entry is for another user */
#define PTL_NI_OP_VIOLATION ((ptl_ni_fail_t)5)   /* the entry does not allow the operation */
#define PTL_NI_SEGV ((ptl_ni_fail_t)6)
#define PTL_NI_NO_MATCH ((ptl_ni_fail_t)7) /* a search found nothing */

/* ptl_ni_limits_t.features */
#define PTL_TARGET_BIND_INACCESSIBLE (1u << 0)
#define PTL_TOTAL_DATA_ORDERING (1u << 1)
#define PTL_COHERENT_ATOMICS (1u << 2)

typedef struct {
  int max_entries;            /* LEs and MEs at once */
  int max_unexpected_headers; /* at once */
  int max_mds;
  int max_cts;
  int max_eqs;
  int max_pt_index; /* the largest; 63 or more */
  int max_iovecs;   /* pieces of an MD, LE or ME */
  int max_list_size;
  int max_triggered_ops; /* pending at once */
  ptl_size_t max_msg_size;
  ptl_size_t max_atomic_size;
  ptl_size_t max_fetch_atomic_size;
  ptl_size_t
      max_waw_ordered_size; /* a write after a write, or a read after a write, takes effect in order up to this size */
  ptl_size_t max_war_ordered_size; /* a write after a read */
  ptl_size_t max_volatile_size;
  unsigned int features;
} ptl_ni_limits_t;

typedef enum PTL_OPEN_ENUM {
  PTL_SR_DROP_COUNT,
  PTL_SR_PERMISSION_VIOLATIONS,
  PTL_SR_OPERATION_VIOLATIONS
} ptl_sr_index_t;
#define PTL_SR_LAST (PTL_SR_OPERATION_VIOLATIONS + 1)

int PtlNIInit(ptl_interface_t iface, unsigned int options, ptl_pid_t pid, const ptl_ni_limits_t* desired,
              ptl_ni_limits_t* actual, ptl_handle_ni_t* ni_handle);
int PtlNIFini(ptl_handle_ni_t ni_handle);
int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t status_register, ptl_sr_value_t* status);
int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t* ni_handle);
int PtlSetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, const ptl_process_t* mapping);
int PtlGetMap(ptl_handle_ni_t ni_handle, ptl_size_t map_size, ptl_process_t* mapping, ptl_size_t* actual_map_size);
int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t* uid);
int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_t* id);
int PtlGetPhysId(ptl_handle_ni_t ni_handle, ptl_process_t* id);
/* PTL_OK when the two are the same. */
int PtlHandleIsEqual(ptl_handle_any_t handle1, ptl_handle_any_t handle2);

/* ---- Portal table entries ---- */

#define PTL_PT_ONLY_USE_ONCE (1u << 0)
#define PTL_PT_ONLY_TRUNCATE (1u << 1)
#define PTL_PT_FLOWCTRL (1u << 2)
#define PTL_PT_ALLOC_DISABLED (1u << 3) /* it begins disabled */

int PtlPTAlloc(ptl_handle_ni_t ni_handle, unsigned int options, ptl_handle_eq_t eq_handle, ptl_pt_index_t pt_index_req,
               ptl_pt_index_t* pt_index);
int PtlPTFree(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);
int PtlPTDisable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);
int PtlPTEnable(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index);

/* ---- Memory descriptors ---- */

typedef struct {
  void* iov_base;
  ptl_size_t iov_len;
} ptl_iovec_t;

/* Of an MD, LE or ME: `start` is an array of ptl_iovec_t, `length` how many. */
#define PTL_IOVEC (1u << 0)

#define PTL_MD_EVENT_SUCCESS_DISABLE (1u << 1)
#define PTL_MD_EVENT_SEND_DISABLE (1u << 2)
#define PTL_MD_EVENT_CT_SEND (1u << 3)
#define PTL_MD_EVENT_CT_REPLY (1u << 4)
#define PTL_MD_EVENT_CT_ACK (1u << 5)
#define PTL_MD_EVENT_CT_BYTES (1u << 6) /* count bytes instead of operations */
#define PTL_MD_UNORDERED (1u << 7)
#define PTL_MD_UNRELIABLE (1u << 8)
#define PTL_MD_VOLATILE (1u << 9) /* up to max_volatile_size the memory may be changed when the call returns */

typedef struct {
  void* start;
  ptl_size_t length;
  unsigned int options;
  ptl_handle_eq_t eq_handle;
  ptl_handle_ct_t ct_handle;
} ptl_md_t;

int PtlMDBind(ptl_handle_ni_t ni_handle, const ptl_md_t* md, ptl_handle_md_t* md_handle);
int PtlMDRelease(ptl_handle_md_t md_handle);

/* ---- List entries ---- */

#define PTL_LE_OP_PUT (1u << 1)
#define PTL_LE_OP_GET (1u << 2)
#define PTL_LE_USE_ONCE (1u << 3)
#define PTL_LE_ACK_DISABLE (1u << 4)
#define PTL_LE_UNEXPECTED_HDR_DISABLE (1u << 5)
#define PTL_LE_IS_ACCESSIBLE (1u << 6)
#define PTL_LE_EVENT_LINK_DISABLE (1u << 7)
#define PTL_LE_EVENT_COMM_DISABLE (1u << 8)
#define PTL_LE_EVENT_FLOWCTRL_DISABLE (1u << 9)
#define PTL_LE_EVENT_SUCCESS_DISABLE (1u << 10)
#define PTL_LE_EVENT_OVER_DISABLE (1u << 11)
#define PTL_LE_EVENT_UNLINK_DISABLE (1u << 12)
#define PTL_LE_EVENT_CT_COMM (1u << 13)
#define PTL_LE_EVENT_CT_OVERFLOW (1u << 14)
#define PTL_LE_EVENT_CT_BYTES (1u << 15)

#define PTL_ME_OP_PUT PTL_LE_OP_PUT
#define PTL_ME_OP_GET PTL_LE_OP_GET
#define PTL_ME_USE_ONCE PTL_LE_USE_ONCE
#define PTL_ME_ACK_DISABLE PTL_LE_ACK_DISABLE
#define PTL_ME_UNEXPECTED_HDR_DISABLE PTL_LE_UNEXPECTED_HDR_DISABLE
#define PTL_ME_IS_ACCESSIBLE PTL_LE_IS_ACCESSIBLE
#define PTL_ME_EVENT_LINK_DISABLE PTL_LE_EVENT_LINK_DISABLE
#define PTL_ME_EVENT_COMM_DISABLE PTL_LE_EVENT_COMM_DISABLE
#define PTL_ME_EVENT_FLOWCTRL_DISABLE PTL_LE_EVENT_FLOWCTRL_DISABLE
#define PTL_ME_EVENT_SUCCESS_DISABLE PTL_LE_EVENT_SUCCESS_DISABLE
#define PTL_ME_EVENT_OVER_DISABLE PTL_LE_EVENT_OVER_DISABLE
#define PTL_ME_EVENT_UNLINK_DISABLE PTL_LE_EVENT_UNLINK_DISABLE
#define PTL_ME_EVENT_CT_COMM PTL_LE_EVENT_CT_COMM
#define PTL_ME_EVENT_CT_OVERFLOW PTL_LE_EVENT_CT_OVERFLOW
#define PTL_ME_EVENT_CT_BYTES PTL_LE_EVENT_CT_BYTES
#define PTL_ME_MANAGE_LOCAL (1u << 16) /* the target keeps the offset: each message lands behind the one before */
#define PTL_ME_NO_TRUNCATE (1u << 17)  /* a message that does not fit does not match */
#define PTL_ME_MAY_ALIGN (1u << 18)
#define PTL_ME_LOCAL_INC_UH_RLENGTH (1u << 19) /* unexpected headers that an append finds move the offset too */

/* Append: to which list. Event: in which one the entry was. */
typedef enum PTL_OPEN_ENUM { PTL_PRIORITY_LIST, PTL_OVERFLOW_LIST } ptl_list_t;

typedef enum PTL_OPEN_ENUM { PTL_SEARCH_ONLY, PTL_SEARCH_DELETE } ptl_search_op_t;

/* For non-matching interfaces. */
typedef struct {
  void* start;
  ptl_size_t length;
  ptl_handle_ct_t ct_handle;
  ptl_uid_t uid; /* who may use it, or PTL_UID_ANY */
  unsigned int options;
} ptl_le_t;

/* For matching ones: takes messages of `match_id` whose match bits are `match_bits` where `ignore_bits` has zeros. */
typedef struct {
  void* start;
  ptl_size_t length;
  ptl_handle_ct_t ct_handle;
  ptl_uid_t uid;
  unsigned int options;
  ptl_process_t match_id;
  ptl_match_bits_t match_bits;
  ptl_match_bits_t ignore_bits;
  ptl_size_t min_free; /* with PTL_ME_MANAGE_LOCAL: unlinked when less than this is left */
} ptl_me_t;

int PtlLEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le, ptl_list_t ptl_list,
                void* user_ptr, ptl_handle_le_t* le_handle);
int PtlLEUnlink(ptl_handle_le_t le_handle);
int PtlLESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_le_t* le, ptl_search_op_t ptl_search_op,
                void* user_ptr);
int PtlMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me, ptl_list_t ptl_list,
                void* user_ptr, ptl_handle_me_t* me_handle);
int PtlMEUnlink(ptl_handle_me_t me_handle);
int PtlMESearch(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me, ptl_search_op_t ptl_search_op,
                void* user_ptr);

/* ---- Counting events ---- */

typedef struct {
  ptl_size_t success; /* operations, or bytes */
  ptl_size_t failure; /* operations */
} ptl_ct_event_t;

int PtlCTAlloc(ptl_handle_ni_t ni_handle, ptl_handle_ct_t* ct_handle);
int PtlCTFree(ptl_handle_ct_t ct_handle);
int PtlCTCancelTriggered(ptl_handle_ct_t ct_handle);
int PtlCTGet(ptl_handle_ct_t ct_handle, ptl_ct_event_t* event);
/* Until `success` is `test` or more, or anything has failed. */
int PtlCTWait(ptl_handle_ct_t ct_handle, ptl_size_t test, ptl_ct_event_t* event);
int PtlCTPoll(const ptl_handle_ct_t* ct_handles, const ptl_size_t* tests, unsigned int size, ptl_time_t timeout,
              ptl_ct_event_t* event, unsigned int* which);
int PtlCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct);
int PtlCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment);

/* ---- Moving data ---- */

typedef enum PTL_OPEN_ENUM {
  PTL_NO_ACK_REQ,
  PTL_ACK_REQ,    /* an event, and a count */
  PTL_CT_ACK_REQ, /* a count */
  PTL_OC_ACK_REQ  /* a count, whatever became of the message */
} ptl_ack_req_t;

/* What an atomic operation makes of the target's element t, the initiator's i and the operand o. */
typedef enum PTL_OPEN_ENUM {
  PTL_MIN,
  PTL_MAX,
  PTL_SUM,
  PTL_PROD,
  PTL_LOR,
  PTL_LAND,
  PTL_BOR,
  PTL_BAND,
  PTL_LXOR,
  PTL_BXOR,
  PTL_SWAP,     /* i */
  PTL_CSWAP,    /* i where o == t; this and the following: one element */
  PTL_CSWAP_NE, /* o != t */
  PTL_CSWAP_LE, /* o <= t */
  PTL_CSWAP_LT, /* o < t */
  PTL_CSWAP_GE, /* o >= t */
  PTL_CSWAP_GT, /* o > t */
  PTL_MSWAP     /* the bits of i where o has ones */
} ptl_op_t;
#define PTL_OP_LAST (PTL_MSWAP + 1)

typedef enum PTL_OPEN_ENUM {
  PTL_INT8_T,
  PTL_UINT8_T,
  PTL_INT16_T,
  PTL_UINT16_T,
  PTL_INT32_T,
  PTL_UINT32_T,
  PTL_INT64_T,
  PTL_UINT64_T,
  PTL_FLOAT,
  PTL_FLOAT_COMPLEX,
  PTL_DOUBLE,
  PTL_DOUBLE_COMPLEX,
  PTL_LONG_DOUBLE,
  PTL_LONG_DOUBLE_COMPLEX
} ptl_datatype_t;
#define PTL_DATATYPE_LAST (PTL_LONG_DOUBLE_COMPLEX + 1)

int PtlPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
           ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
           void* user_ptr, ptl_hdr_data_t hdr_data);
int PtlGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target_id,
           ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr);
int PtlAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
              ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
              void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype);
int PtlFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                   ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                   ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                   ptl_op_t operation, ptl_datatype_t datatype);
/* `operand`: one element, read before the call returns; NULL for PTL_SWAP. */
int PtlSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
            ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
            const void* operand, ptl_op_t operation, ptl_datatype_t datatype);
int PtlAtomicSync(void);

/* ---- Events ---- */

typedef enum PTL_OPEN_ENUM {
  PTL_EVENT_GET,          /* target: data was read */
  PTL_EVENT_GET_OVERFLOW, /* an append or a search found a get that had come before */
  PTL_EVENT_PUT,          /* target: data has landed */
  PTL_EVENT_PUT_OVERFLOW, /* the same of a put; `start` is where it lies in the overflow list's memory */
  PTL_EVENT_ATOMIC,
  PTL_EVENT_ATOMIC_OVERFLOW,
  PTL_EVENT_FETCH_ATOMIC,
  PTL_EVENT_FETCH_ATOMIC_OVERFLOW,
  PTL_EVENT_REPLY,       /* initiator: what was asked for has come */
  PTL_EVENT_SEND,        /* initiator: the memory may be used again */
  PTL_EVENT_ACK,         /* initiator: the target has answered */
  PTL_EVENT_PT_DISABLED, /* target: flow control has disabled the portal table entry */
  PTL_EVENT_LINK,        /* an entry is in its list */
  PTL_EVENT_AUTO_UNLINK, /* an entry has left it by itself */
  PTL_EVENT_AUTO_FREE,   /* and no unexpected header needs its memory: of an overflow list */
  PTL_EVENT_SEARCH       /* what a search found, or that it found nothing */
} ptl_event_kind_t;
#define PTL_EVENT_LAST (PTL_EVENT_SEARCH + 1)

typedef struct {
  void* start;
  void* user_ptr;
  ptl_hdr_data_t hdr_data;
  ptl_match_bits_t match_bits;
  ptl_size_t rlength;       /* asked for */
  ptl_size_t mlength;       /* done */
  ptl_size_t remote_offset; /* target: the one asked for; initiator: the one used */
  ptl_uid_t uid;            /* the initiator's */
  ptl_process_t initiator;
  ptl_event_kind_t type;
  ptl_list_t ptl_list;
  ptl_pt_index_t pt_index;
  ptl_ni_fail_t ni_fail_type;
  ptl_op_t atomic_operation;
  ptl_datatype_t atomic_type;
} ptl_event_t;

int PtlEQAlloc(ptl_handle_ni_t ni_handle, ptl_size_t count, ptl_handle_eq_t* eq_handle);
int PtlEQFree(ptl_handle_eq_t eq_handle);
int PtlEQGet(ptl_handle_eq_t eq_handle, ptl_event_t* event);
int PtlEQWait(ptl_handle_eq_t eq_handle, ptl_event_t* event);
int PtlEQPoll(const ptl_handle_eq_t* eq_handles, unsigned int size, ptl_time_t timeout, ptl_event_t* event,
              unsigned int* which);

/* ---- Triggered operations: as the others, when success + failure of `trig_ct_handle` is `threshold` or more ---- */

int PtlTriggeredPut(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
                    ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                    ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_handle_ct_t trig_ct_handle,
                    ptl_size_t threshold);
int PtlTriggeredGet(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_process_t target_id,
                    ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr,
                    ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredAtomic(ptl_handle_md_t md_handle, ptl_size_t local_offset, ptl_size_t length, ptl_ack_req_t ack_req,
                       ptl_process_t target_id, ptl_pt_index_t pt_index, ptl_match_bits_t match_bits,
                       ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation,
                       ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredFetchAtomic(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                            ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id,
                            ptl_pt_index_t pt_index, ptl_match_bits_t match_bits, ptl_size_t remote_offset,
                            void* user_ptr, ptl_hdr_data_t hdr_data, ptl_op_t operation, ptl_datatype_t datatype,
                            ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);
int PtlTriggeredSwap(ptl_handle_md_t get_md_handle, ptl_size_t local_get_offset, ptl_handle_md_t put_md_handle,
                     ptl_size_t local_put_offset, ptl_size_t length, ptl_process_t target_id, ptl_pt_index_t pt_index,
                     ptl_match_bits_t match_bits, ptl_size_t remote_offset, void* user_ptr, ptl_hdr_data_t hdr_data,
                     const void* operand, ptl_op_t operation, ptl_datatype_t datatype, ptl_handle_ct_t trig_ct_handle,
                     ptl_size_t threshold);
int PtlTriggeredCTInc(ptl_handle_ct_t ct_handle, ptl_ct_event_t increment, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold);
int PtlTriggeredCTSet(ptl_handle_ct_t ct_handle, ptl_ct_event_t new_ct, ptl_handle_ct_t trig_ct_handle,
                      ptl_size_t threshold);
/* Not of the specification, but of its reference implementation. `me` is read now; `me_handle` is good from now on. */
int PtlTriggeredMEAppend(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, const ptl_me_t* me, ptl_list_t ptl_list,
                         void* user_ptr, ptl_handle_me_t* me_handle, ptl_handle_ct_t trig_ct_handle,
                         ptl_size_t threshold);
int PtlTriggeredMEUnlink(ptl_handle_me_t me_handle, ptl_handle_ct_t trig_ct_handle, ptl_size_t threshold);

/* ---- Many operations in a row: a hint. Counted ---- */

int PtlStartBundle(ptl_handle_ni_t ni_handle);
int PtlEndBundle(ptl_handle_ni_t ni_handle);

#ifdef __cplusplus
}
#endif

#endif
