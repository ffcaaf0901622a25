// mpi.h - MPI for programs that run as one process: a stand-in with one rank, so that programs which need MPI build and
// run. What the functions do stands in gpulab/programs/host_libraries/mpi.cpp; names are those of the MPI standard 4.1,
// values are gpulab's own. Left out: one-sided communication, files, processes that are started later.
#ifndef __GPULAB_MPI__
#define __GPULAB_MPI__
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 4
#define MPI_SUBVERSION 1
#define MPI_SUCCESS 0
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_TAG 4
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_REQUEST 7
#define MPI_ERR_ROOT 8
#define MPI_ERR_OP 10
#define MPI_ERR_ARG 13
#define MPI_ERR_TRUNCATE 15
#define MPI_ERR_OTHER 16
#define MPI_ERR_IN_STATUS 18
#define MPI_ERR_LASTCODE 64
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_MAX_ERROR_STRING 256
#define MPI_MAX_LIBRARY_VERSION_STRING 256
#define MPI_MAX_OBJECT_NAME 64
#define MPI_UNDEFINED (-32766)
#define MPI_ANY_SOURCE (-1)
#define MPI_PROC_NULL (-2)
#define MPI_ROOT (-3)
#define MPI_ANY_TAG (-1)
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)1)
enum { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE };
enum { MPI_IDENT, MPI_CONGRUENT, MPI_SIMILAR, MPI_UNEQUAL };
enum { MPI_COMM_TYPE_SHARED = 1, MPI_COMM_TYPE_HW_UNGUIDED = 2, MPI_COMM_TYPE_HW_GUIDED = 3 };
enum { MPI_ORDER_C, MPI_ORDER_FORTRAN };
enum { MPI_TAG_UB = 1, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_UNIVERSE_SIZE, MPI_APPNUM };

typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Op;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;
typedef int MPI_Fint;
typedef struct gpulab_mpi_request* MPI_Request;
typedef struct MPI_Status {
  int MPI_SOURCE, MPI_TAG, MPI_ERROR;
  size_t gpulab_bytes;
} MPI_Status;
typedef void MPI_User_function(void* in, void* in_and_out, int* count, MPI_Datatype* type);

#define MPI_COMM_NULL 0
#define MPI_COMM_WORLD 1
#define MPI_COMM_SELF 2
#define MPI_GROUP_NULL 0
#define MPI_GROUP_EMPTY 1
#define MPI_INFO_NULL 0
#define MPI_INFO_ENV 1
#define MPI_REQUEST_NULL ((MPI_Request)0)
#define MPI_OP_NULL 0
#define MPI_ERRORS_ARE_FATAL 1
#define MPI_ERRORS_RETURN 2
#define MPI_ERRHANDLER_NULL 0
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)

enum {
  MPI_DATATYPE_NULL, MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_PACKED, MPI_WCHAR, MPI_SHORT,
  MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT,
  MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T,
  MPI_UINT64_T, MPI_C_BOOL, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_AINT, MPI_OFFSET, MPI_COUNT, MPI_FLOAT_INT,
  MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_2INT, gpulab_mpi_types
};
#define MPI_LONG_LONG_INT MPI_LONG_LONG
#define MPI_CXX_BOOL MPI_C_BOOL
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_CXX_DOUBLE_COMPLEX MPI_C_DOUBLE_COMPLEX
#define MPI_INTEGER MPI_INT
#define MPI_REAL MPI_FLOAT
#define MPI_DOUBLE_PRECISION MPI_DOUBLE
enum {
  MPI_MAX = 1, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_BAND, MPI_LOR, MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC,
  MPI_REPLACE, MPI_NO_OP, gpulab_mpi_ops
};

int MPI_Init(int* argc, char*** argv);
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int MPI_Query_thread(int* provided);
int MPI_Is_thread_main(int* flag);
int MPI_Finalize(void);
int MPI_Initialized(int* flag);
int MPI_Finalized(int* flag);
int MPI_Abort(MPI_Comm comm, int code);
int MPI_Get_version(int* version, int* subversion);
int MPI_Get_library_version(char* text, int* length);
int MPI_Get_processor_name(char* name, int* length);
int MPI_Error_string(int code, char* text, int* length);
int MPI_Error_class(int code, int* error_class);
int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
double MPI_Wtime(void);
double MPI_Wtick(void);

int MPI_Comm_rank(MPI_Comm comm, int* rank);
int MPI_Comm_size(MPI_Comm comm, int* size);
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made);
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made);
int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made);
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made);
int MPI_Comm_free(MPI_Comm* comm);
int MPI_Comm_compare(MPI_Comm first, MPI_Comm second, int* result);
int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);
int MPI_Comm_set_name(MPI_Comm comm, const char* name);
int MPI_Comm_get_attr(MPI_Comm comm, int key, void* value, int* flag);
int MPI_Group_size(MPI_Group group, int* size);
int MPI_Group_rank(MPI_Group group, int* rank);
int MPI_Group_incl(MPI_Group group, int count, const int* ranks, MPI_Group* made);
int MPI_Group_free(MPI_Group* group);
int MPI_Dims_create(int nodes, int dimensions, int* sizes);
int MPI_Cart_create(MPI_Comm comm, int dimensions, const int* sizes, const int* periods, int reorder, MPI_Comm* made);
int MPI_Cart_coords(MPI_Comm comm, int rank, int most, int* coordinates);
int MPI_Cart_rank(MPI_Comm comm, const int* coordinates, int* rank);
int MPI_Cart_get(MPI_Comm comm, int most, int* sizes, int* periods, int* coordinates);
int MPI_Cart_shift(MPI_Comm comm, int direction, int distance, int* source, int* target);
int MPI_Cartdim_get(MPI_Comm comm, int* dimensions);

int MPI_Type_size(MPI_Datatype type, int* size);
int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent);
int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_vector(int count, int block, int stride, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_create_hvector(int count, int block, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_indexed(int count, const int* blocks, const int* places, MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_create_struct(int count, const int* blocks, const MPI_Aint* places, const MPI_Datatype* types,
                           MPI_Datatype* made);
int MPI_Type_create_subarray(int dimensions, const int* sizes, const int* parts, const int* starts, int order,
                             MPI_Datatype old, MPI_Datatype* made);
int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* made);
int MPI_Type_commit(MPI_Datatype* type);
int MPI_Type_free(MPI_Datatype* type);
int MPI_Get_address(const void* place, MPI_Aint* address);
int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* made);
int MPI_Op_free(MPI_Op* op);
int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info info, void* pointer);
int MPI_Free_mem(void* pointer);
int MPI_Info_create(MPI_Info* info);
int MPI_Info_set(MPI_Info info, const char* key, const char* value);
int MPI_Info_free(MPI_Info* info);

int MPI_Send(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int MPI_Ssend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int MPI_Bsend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int MPI_Rsend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm);
int MPI_Recv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int target, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status);
int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int target, int out_tag, int source, int in_tag,
                         MPI_Comm comm, MPI_Status* status);
int MPI_Isend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Issend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Irecv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request);
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* made);
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* made);
int MPI_Start(MPI_Request* request);
int MPI_Startall(int count, MPI_Request* requests);
int MPI_Request_free(MPI_Request* request);
int MPI_Cancel(MPI_Request* request);
int MPI_Wait(MPI_Request* request, MPI_Status* status);
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses);
int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status);
int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses);
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses);
int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count);

int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm);
int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm);
int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Exscan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
int MPI_Gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
               MPI_Comm comm);
int MPI_Gatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int* in_counts, const int* places,
                MPI_Datatype in_type, int root, MPI_Comm comm);
int MPI_Scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                MPI_Comm comm);
int MPI_Scatterv(const void* out, const int* out_counts, const int* places, MPI_Datatype out_type, void* in, int in_count,
                 MPI_Datatype in_type, int root, MPI_Comm comm);
int MPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                  MPI_Comm comm);
int MPI_Allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int* in_counts, const int* places,
                   MPI_Datatype in_type, MPI_Comm comm);
int MPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                 MPI_Comm comm);
int MPI_Alltoallv(const void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type, void* in,
                  const int* in_counts, const int* in_places, MPI_Datatype in_type, MPI_Comm comm);
int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request);
int MPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                MPI_Request* request);
int MPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request);

#ifdef __cplusplus
}
#endif
#endif
