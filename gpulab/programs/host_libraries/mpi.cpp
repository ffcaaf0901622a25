// MPI for programs that run as one process (mpi.h). The one rank of every communicator is 0; collective operations copy;
// messages go from the process to itself, in their order. What cannot be done with one rank ends the program with a word
// about it, as MPI's usual handler of errors does (or returns an error, after MPI_ERRORS_RETURN).
//
// Source of what the functions do: the MPI standard 4.1.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <list>
#include <mutex>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default"), used))

namespace {

struct Block {
  MPI_Aint place;
  size_t bytes;
};
struct Type {
  std::vector<Block> blocks;
  MPI_Aint lower = 0, extent = 0;
  size_t bytes = 0;
  MPI_Aint alignment = 1;  // of what a compiler would have there
  bool bounded = false;    // `lower` and `extent` are known
};
struct Grid {
  std::vector<int> sizes, periods;
};
struct Message {
  MPI_Comm comm;
  int tag;
  std::vector<char> data;
};

}  // namespace

struct gpulab_mpi_request {
  bool receives, done, persistent;
  void* data;
  int count, other, tag;
  MPI_Datatype type;
  MPI_Comm comm;
  MPI_Status status;
};

namespace {

std::recursive_mutex mutex;
bool initialised, finalised, returns;
int level = MPI_THREAD_SINGLE;
std::list<Message> messages;
std::list<gpulab_mpi_request*> waiting;

std::vector<Type>& types() {
  static std::vector<Type> all = [] {
    std::vector<Type> made(gpulab_mpi_types);
    auto size = [&](int type, size_t bytes, size_t alignment) {
      made[type] = Type{{{0, bytes}}, 0, static_cast<MPI_Aint>(bytes), bytes, static_cast<MPI_Aint>(alignment)};
    };
    struct DoubleInt { double a; int b; };
    struct LongInt { long a; int b; };
    struct ShortInt { short a; int b; };
    for (int type : {MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_PACKED, MPI_INT8_T, MPI_UINT8_T, MPI_C_BOOL})
      size(type, 1, 1);
    for (int type : {MPI_SHORT, MPI_UNSIGNED_SHORT, MPI_INT16_T, MPI_UINT16_T}) size(type, 2, 2);
    for (int type : {MPI_INT, MPI_UNSIGNED, MPI_FLOAT, MPI_INT32_T, MPI_UINT32_T, MPI_WCHAR}) size(type, 4, 4);
    for (int type : {MPI_LONG, MPI_UNSIGNED_LONG, MPI_LONG_LONG, MPI_UNSIGNED_LONG_LONG, MPI_DOUBLE, MPI_INT64_T, MPI_UINT64_T,
                     MPI_AINT, MPI_OFFSET, MPI_COUNT})
      size(type, 8, 8);
    for (int type : {MPI_C_FLOAT_COMPLEX, MPI_2INT, MPI_FLOAT_INT}) size(type, 8, 4);
    size(MPI_LONG_DOUBLE, sizeof(long double), alignof(long double));
    size(MPI_C_DOUBLE_COMPLEX, 16, 8);
    size(MPI_DOUBLE_INT, sizeof(DoubleInt), 8);
    size(MPI_LONG_INT, sizeof(LongInt), 8);
    size(MPI_SHORT_INT, sizeof(ShortInt), 4);
    return made;
  }();
  return all;
}

std::vector<Grid>& communicators() {
  static std::vector<Grid> all(3);
  return all;
}

struct {
  std::vector<MPI_User_function*> functions;
} own;

int fail(const char* function, int code, const std::string& why) {
  if (returns) return code;
  fprintf(stderr, "gpulab: %s: %s\n  MPI programs run as one process here: mpi.h is a stand-in with one rank.\n", function,
          why.c_str());
  exit(code);
}

int check(const char* function, MPI_Comm comm, MPI_Datatype type, int count) {
  if (!initialised || finalised) return fail(function, MPI_ERR_OTHER, "it is called before MPI_Init or after MPI_Finalize.");
  if (comm <= 0 || comm >= static_cast<int>(communicators().size()))
    return fail(function, MPI_ERR_COMM, "this is no communicator.");
  if (type <= 0 || type >= static_cast<int>(types().size())) return fail(function, MPI_ERR_TYPE, "this is no type of data.");
  if (count < 0) return fail(function, MPI_ERR_COUNT, "the number of elements is negative.");
  return MPI_SUCCESS;
}

int check_rank(const char* function, int rank) {
  if (rank == 0 || rank == MPI_PROC_NULL) return MPI_SUCCESS;
  return fail(function, MPI_ERR_RANK, "there is no rank " + std::to_string(rank) + ".");
}

std::vector<char> packed(const void* data, int count, MPI_Datatype kind) {
  const Type& type = types()[kind];
  std::vector<char> found(type.bytes * static_cast<size_t>(count));
  char* to = found.data();
  for (int i = 0; i < count; i++)
    for (const Block& block : type.blocks) {
      memcpy(to, static_cast<const char*>(data) + i * type.extent + block.place, block.bytes);
      to += block.bytes;
    }
  return found;
}

void unpack(const std::vector<char>& from, void* data, MPI_Datatype kind) {
  const Type& type = types()[kind];
  size_t left = from.size();
  const char* at = from.data();
  for (MPI_Aint i = 0; left > 0; i++)
    for (const Block& block : type.blocks) {
      size_t bytes = std::min(left, block.bytes);
      memcpy(static_cast<char*>(data) + i * type.extent + block.place, at, bytes);
      at += bytes;
      left -= bytes;
    }
}

void say(MPI_Status* status, int source, int tag, size_t bytes) {
  if (status) *status = MPI_Status{source, tag, MPI_SUCCESS, bytes};
}

bool fits(const gpulab_mpi_request& request, const Message& message) {
  return request.comm == message.comm && (request.tag == MPI_ANY_TAG || request.tag == message.tag);
}

int deliver(gpulab_mpi_request& request, const Message& message) {
  size_t room = types()[request.type].bytes * static_cast<size_t>(request.count);
  if (message.data.size() > room) return fail("MPI_Recv", MPI_ERR_TRUNCATE, "the message is longer than the place for it.");
  unpack(message.data, request.data, request.type);
  request.done = true;
  say(&request.status, 0, message.tag, message.data.size());
  return MPI_SUCCESS;
}

// Begin a receive: it takes the first message that fits, or waits for one.
int begin(gpulab_mpi_request* request) {
  request->done = false;
  if (request->other == MPI_PROC_NULL) {
    request->done = true;
    say(&request->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
  }
  for (auto at = messages.begin(); at != messages.end(); ++at)
    if (fits(*request, *at)) {
      Message message = std::move(*at);
      messages.erase(at);
      return deliver(*request, message);
    }
  waiting.push_back(request);
  return MPI_SUCCESS;
}

int send(const char* function, const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  if (int code = check(function, comm, type, count)) return code;
  if (int code = check_rank(function, target)) return code;
  if (target == MPI_PROC_NULL) return MPI_SUCCESS;
  Message message = {comm, tag, packed(data, count, type)};
  for (auto at = waiting.begin(); at != waiting.end(); ++at)
    if (fits(**at, message)) {
      gpulab_mpi_request* request = *at;
      waiting.erase(at);
      return deliver(*request, message);
    }
  messages.push_back(std::move(message));
  return MPI_SUCCESS;
}

int receive(const char* function, void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
            MPI_Request* made, bool persistent) {
  if (int code = check(function, comm, type, count)) return code;
  if (source != MPI_ANY_SOURCE)
    if (int code = check_rank(function, source)) return code;
  *made = new gpulab_mpi_request{true, true, persistent, data, count, source, tag, type, comm, {}};
  return persistent ? MPI_SUCCESS : begin(*made);
}

void release(MPI_Request* request) {
  if ((*request)->persistent) return;
  delete *request;
  *request = MPI_REQUEST_NULL;
}

int completed(MPI_Request* made) {
  *made = new gpulab_mpi_request{};
  (*made)->done = true;
  say(&(*made)->status, 0, MPI_ANY_TAG, 0);
  return MPI_SUCCESS;
}

int copy(const char* function, const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
         MPI_Datatype in_type, MPI_Comm comm) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  if (out == MPI_IN_PLACE || in == MPI_IN_PLACE) return check(function, comm, MPI_BYTE, 0);
  if (int code = check(function, comm, out_type, out_count)) return code;
  if (int code = check(function, comm, in_type, in_count)) return code;
  std::vector<char> data = packed(out, out_count, out_type);
  if (data.size() > types()[in_type].bytes * static_cast<size_t>(in_count))
    return fail(function, MPI_ERR_TRUNCATE, "more is sent than there is room for.");
  unpack(data, in, in_type);
  return MPI_SUCCESS;
}

const void* at(const void* data, const int* places, MPI_Datatype type) {
  if (data == MPI_IN_PLACE) return data;
  return static_cast<const char*>(data) + places[0] * types()[type].extent;
}
void* at(void* data, const int* places, MPI_Datatype type) {
  return const_cast<void*>(at(static_cast<const void*>(data), places, type));
}

int add_type(Type made, MPI_Datatype* to) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  std::vector<Block> joined;
  for (const Block& block : made.blocks) {
    made.bytes += block.bytes;
    if (!joined.empty() && joined.back().place + static_cast<MPI_Aint>(joined.back().bytes) == block.place)
      joined.back().bytes += block.bytes;
    else joined.push_back(block);
  }
  made.blocks = joined;
  types().push_back(made);
  *to = static_cast<int>(types().size()) - 1;
  return MPI_SUCCESS;
}

// Add elements to a type, and to its bounds theirs.
void add_blocks(Type& to, MPI_Datatype kind, MPI_Aint place, int count) {
  const Type old = types()[kind];
  for (int i = 0; i < count; i++) {
    MPI_Aint start = place + i * old.extent, low = start + old.lower, end = low + old.extent;
    for (const Block& block : old.blocks) to.blocks.push_back({start + block.place, block.bytes});
    if (to.bounded) {
      low = std::min(low, to.lower);
      end = std::max(end, to.lower + to.extent);
    }
    to.lower = low;
    to.extent = end - low;
    to.bounded = true;
  }
  to.alignment = std::max(to.alignment, old.alignment);
}

int add_communicator(MPI_Comm* made, Grid grid = {}) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  communicators().push_back(std::move(grid));
  *made = static_cast<int>(communicators().size()) - 1;
  return MPI_SUCCESS;
}

}  // namespace

// ----------------------------------------------------------------------------------- begin, end, questions

API int MPI_Init(int*, char***) {
  initialised = true;
  return MPI_SUCCESS;
}
API int MPI_Init_thread(int*, char***, int required, int* provided) {
  initialised = true;
  level = required;
  if (provided) *provided = required;
  return MPI_SUCCESS;
}
API int MPI_Query_thread(int* provided) { return *provided = level, MPI_SUCCESS; }
API int MPI_Is_thread_main(int* flag) { return *flag = 1, MPI_SUCCESS; }
API int MPI_Finalize() { return finalised = true, MPI_SUCCESS; }
API int MPI_Initialized(int* flag) { return *flag = initialised, MPI_SUCCESS; }
API int MPI_Finalized(int* flag) { return *flag = finalised, MPI_SUCCESS; }
API int MPI_Abort(MPI_Comm, int code) {
  fflush(stdout);
  fprintf(stderr, "MPI_Abort was called with code %d.\n", code);
  exit(code);
}
API int MPI_Get_version(int* version, int* subversion) {
  return *version = MPI_VERSION, *subversion = MPI_SUBVERSION, MPI_SUCCESS;
}
API int MPI_Get_library_version(char* text, int* length) {
  return *length = snprintf(text, MPI_MAX_LIBRARY_VERSION_STRING, "gpulab's MPI of one rank"), MPI_SUCCESS;
}
API int MPI_Get_processor_name(char* name, int* length) {
  gethostname(name, MPI_MAX_PROCESSOR_NAME);  // Linux has none of more than 64 characters
  return *length = static_cast<int>(strlen(name)), MPI_SUCCESS;
}
API int MPI_Error_string(int code, char* text, int* length) {
  return *length = snprintf(text, MPI_MAX_ERROR_STRING, code ? "MPI error %d" : "no error", code), MPI_SUCCESS;
}
API int MPI_Error_class(int code, int* found) { return *found = code, MPI_SUCCESS; }
API int MPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler handler) {
  return returns = handler == MPI_ERRORS_RETURN, MPI_SUCCESS;
}
API int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler) { return MPI_Comm_set_errhandler(comm, handler); }
API double MPI_Wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
API double MPI_Wtick() { return 1e-9; }

// ------------------------------------------------------------------------------------------- communicators

API int MPI_Comm_rank(MPI_Comm comm, int* rank) { return *rank = 0, check("MPI_Comm_rank", comm, MPI_BYTE, 0); }
API int MPI_Comm_size(MPI_Comm comm, int* size) { return *size = 1, check("MPI_Comm_size", comm, MPI_BYTE, 0); }
API int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) { return add_communicator(made, communicators()[comm]); }
API int MPI_Comm_split(MPI_Comm, int color, int, MPI_Comm* made) {
  if (color == MPI_UNDEFINED) return *made = MPI_COMM_NULL, MPI_SUCCESS;
  return add_communicator(made);
}
API int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info, MPI_Comm* made) {
  return MPI_Comm_split(comm, type, key, made);
}
API int MPI_Comm_create(MPI_Comm, MPI_Group group, MPI_Comm* made) {
  if (group == MPI_GROUP_EMPTY) return *made = MPI_COMM_NULL, MPI_SUCCESS;
  return add_communicator(made);
}
API int MPI_Comm_free(MPI_Comm* comm) { return *comm = MPI_COMM_NULL, MPI_SUCCESS; }
API int MPI_Comm_compare(MPI_Comm first, MPI_Comm second, int* result) {
  return *result = first == second ? MPI_IDENT : MPI_CONGRUENT, MPI_SUCCESS;
}
API int MPI_Comm_group(MPI_Comm, MPI_Group* group) { return *group = 2, MPI_SUCCESS; }
API int MPI_Comm_set_name(MPI_Comm, const char*) { return MPI_SUCCESS; }
API int MPI_Comm_get_attr(MPI_Comm, int key, void* value, int* flag) {
  static int tags = 1 << 30;
  *flag = key == MPI_TAG_UB;
  if (*flag) *static_cast<int**>(value) = &tags;
  return MPI_SUCCESS;
}
API int MPI_Group_size(MPI_Group group, int* size) { return *size = group == 2, MPI_SUCCESS; }
API int MPI_Group_rank(MPI_Group group, int* rank) { return *rank = group == 2 ? 0 : MPI_UNDEFINED, MPI_SUCCESS; }
API int MPI_Group_incl(MPI_Group, int count, const int*, MPI_Group* made) {
  return *made = count > 0 ? 2 : MPI_GROUP_EMPTY, MPI_SUCCESS;
}
API int MPI_Group_free(MPI_Group* group) { return *group = MPI_GROUP_NULL, MPI_SUCCESS; }
API int MPI_Dims_create(int nodes, int dimensions, int* sizes) {
  for (int i = 0; i < dimensions; i++)
    if (sizes[i] > 1 || sizes[i] < 0 || nodes != 1)
      return fail("MPI_Dims_create", MPI_ERR_ARG, "a grid of " + std::to_string(nodes) + " ranks has no such sides.");
  for (int i = 0; i < dimensions; i++) sizes[i] = 1;
  return MPI_SUCCESS;
}
API int MPI_Cart_create(MPI_Comm, int dimensions, const int* sizes, const int* periods, int, MPI_Comm* made) {
  for (int i = 0; i < dimensions; i++)
    if (sizes[i] != 1) return fail("MPI_Cart_create", MPI_ERR_ARG, "the grid has more than one rank.");
  return add_communicator(made, {{sizes, sizes + dimensions}, {periods, periods + dimensions}});
}
API int MPI_Cart_coords(MPI_Comm, int, int most, int* coordinates) {
  for (int i = 0; i < most; i++) coordinates[i] = 0;
  return MPI_SUCCESS;
}
API int MPI_Cart_rank(MPI_Comm, const int*, int* rank) { return *rank = 0, MPI_SUCCESS; }
API int MPI_Cart_get(MPI_Comm comm, int most, int* sizes, int* periods, int* coordinates) {
  const Grid& grid = communicators()[comm];
  for (int i = 0; i < most && i < static_cast<int>(grid.sizes.size()); i++)
    sizes[i] = 1, periods[i] = grid.periods[i], coordinates[i] = 0;
  return MPI_SUCCESS;
}
API int MPI_Cart_shift(MPI_Comm comm, int direction, int distance, int* source, int* target) {
  const Grid& grid = communicators()[comm];
  bool inside = distance == 0 || (direction < static_cast<int>(grid.periods.size()) && grid.periods[direction]);
  return *source = *target = inside ? 0 : MPI_PROC_NULL, MPI_SUCCESS;
}
API int MPI_Cartdim_get(MPI_Comm comm, int* dimensions) {
  return *dimensions = static_cast<int>(communicators()[comm].sizes.size()), MPI_SUCCESS;
}

// --------------------------------------------------------------------------------------- types and memory

API int MPI_Type_size(MPI_Datatype type, int* size) { return *size = static_cast<int>(types()[type].bytes), MPI_SUCCESS; }
API int MPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  return *lower = types()[type].lower, *extent = types()[type].extent, MPI_SUCCESS;
}
API int MPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* made) {
  Type type;
  add_blocks(type, old, 0, count);
  return add_type(type, made);
}
API int MPI_Type_create_hvector(int count, int block, MPI_Aint stride, MPI_Datatype old, MPI_Datatype* made) {
  Type type;
  for (int i = 0; i < count; i++) add_blocks(type, old, i * stride, block);
  return add_type(type, made);
}
API int MPI_Type_vector(int count, int block, int stride, MPI_Datatype old, MPI_Datatype* made) {
  return MPI_Type_create_hvector(count, block, stride * types()[old].extent, old, made);
}
API int MPI_Type_indexed(int count, const int* blocks, const int* places, MPI_Datatype old, MPI_Datatype* made) {
  Type type;
  for (int i = 0; i < count; i++) add_blocks(type, old, places[i] * types()[old].extent, blocks[i]);
  return add_type(type, made);
}
API int MPI_Type_create_struct(int count, const int* blocks, const MPI_Aint* places, const MPI_Datatype* kinds,
                               MPI_Datatype* made) {
  Type type;
  for (int i = 0; i < count; i++) add_blocks(type, kinds[i], places[i], blocks[i]);
  MPI_Aint unit = type.alignment;
  type.extent = (type.extent + unit - 1) / unit * unit;  // as a compiler rounds the structure's size
  return add_type(type, made);
}
API int MPI_Type_create_subarray(int dimensions, const int* sizes, const int* parts, const int* starts, int order,
                                 MPI_Datatype old, MPI_Datatype* made) {
  Type type;
  MPI_Aint whole = types()[old].extent, all = 1, inside = 1;
  for (int i = 0; i < dimensions; i++) all *= sizes[i], inside *= parts[i];
  for (MPI_Aint number = 0; number < inside; number++) {
    MPI_Aint rest = number, place = 0, scale = 1;
    for (int step = 0; step < dimensions; step++) {
      int i = order == MPI_ORDER_C ? dimensions - 1 - step : step;
      place += (starts[i] + rest % parts[i]) * scale;
      rest /= parts[i];
      scale *= sizes[i];
    }
    add_blocks(type, old, place * whole, 1);
  }
  type.lower = 0;
  type.extent = all * whole;
  return add_type(type, made);
}
API int MPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* made) {
  Type type;
  add_blocks(type, old, 0, 1);
  type.lower = lower;
  type.extent = extent;
  return add_type(type, made);
}
API int MPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
API int MPI_Type_free(MPI_Datatype* type) { return *type = MPI_DATATYPE_NULL, MPI_SUCCESS; }
API int MPI_Get_address(const void* place, MPI_Aint* address) {
  return *address = reinterpret_cast<MPI_Aint>(place), MPI_SUCCESS;
}
API int MPI_Op_create(MPI_User_function* function, int, MPI_Op* made) {
  own.functions.push_back(function);
  return *made = gpulab_mpi_ops + static_cast<int>(own.functions.size()), MPI_SUCCESS;
}
API int MPI_Op_free(MPI_Op* op) { return *op = MPI_OP_NULL, MPI_SUCCESS; }
API int MPI_Alloc_mem(MPI_Aint bytes, MPI_Info, void* pointer) {
  *static_cast<void**>(pointer) = malloc(static_cast<size_t>(bytes));
  return *static_cast<void**>(pointer) ? MPI_SUCCESS : MPI_ERR_OTHER;
}
API int MPI_Free_mem(void* pointer) { return free(pointer), MPI_SUCCESS; }
API int MPI_Info_create(MPI_Info* info) { return *info = 2, MPI_SUCCESS; }
API int MPI_Info_set(MPI_Info, const char*, const char*) { return MPI_SUCCESS; }
API int MPI_Info_free(MPI_Info* info) { return *info = MPI_INFO_NULL, MPI_SUCCESS; }

// ---------------------------------------------------------------------------------------------- messages

API int MPI_Send(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  return send("MPI_Send", data, count, type, target, tag, comm);
}
API int MPI_Ssend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  return send("MPI_Ssend", data, count, type, target, tag, comm);
}
API int MPI_Bsend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  return send("MPI_Bsend", data, count, type, target, tag, comm);
}
API int MPI_Rsend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm) {
  return send("MPI_Rsend", data, count, type, target, tag, comm);
}
API int MPI_Irecv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  return receive("MPI_Irecv", data, count, type, source, tag, comm, request, false);
}
API int MPI_Isend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* request) {
  int code = send("MPI_Isend", data, count, type, target, tag, comm);
  return code ? code : completed(request);
}
API int MPI_Issend(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* request) {
  return MPI_Isend(data, count, type, target, tag, comm, request);
}
API int MPI_Send_init(const void* data, int count, MPI_Datatype type, int target, int tag, MPI_Comm comm, MPI_Request* made) {
  *made = new gpulab_mpi_request{false, true, true, const_cast<void*>(data), count, target, tag, type, comm, {}};
  return check("MPI_Send_init", comm, type, count);
}
API int MPI_Recv_init(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* made) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  return receive("MPI_Recv_init", data, count, type, source, tag, comm, made, true);
}
API int MPI_Start(MPI_Request* request) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  gpulab_mpi_request& one = **request;
  return one.receives ? begin(&one) : send("MPI_Start", one.data, one.count, one.type, one.other, one.tag, one.comm);
}
API int MPI_Startall(int count, MPI_Request* requests) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && !code; i++) code = MPI_Start(requests + i);
  return code;
}
API int MPI_Request_free(MPI_Request* request) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  waiting.remove(*request);
  delete *request;
  return *request = MPI_REQUEST_NULL, MPI_SUCCESS;
}
API int MPI_Cancel(MPI_Request* request) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  waiting.remove(*request);
  (*request)->done = true;
  return MPI_SUCCESS;
}
API int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  *flag = !*request || (*request)->done;
  if (!*flag) return MPI_SUCCESS;
  if (!*request) return say(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0), MPI_SUCCESS;
  if (status) *status = (*request)->status;
  return release(request), MPI_SUCCESS;
}
API int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  for (int flag = 0;;) {
    if (int code = MPI_Test(request, &flag, status)) return code;
    if (flag) return MPI_SUCCESS;
    if (level != MPI_THREAD_MULTIPLE)
      return fail("MPI_Wait", MPI_ERR_OTHER, "it waits for a message that this process has not sent, and there is no other.");
    usleep(50);  // another thread may send it
  }
}
API int MPI_Recv(void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Irecv(data, count, type, source, tag, comm, &request);
  if (code) return code;
  if (!request->done && level != MPI_THREAD_MULTIPLE)
    return fail("MPI_Recv", MPI_ERR_OTHER, "it waits for a message that this process has not sent, and there is no other.");
  return MPI_Wait(&request, status);
}
API int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int target, int out_tag, void* in, int in_count,
                     MPI_Datatype in_type, int source, int in_tag, MPI_Comm comm, MPI_Status* status) {
  int code = send("MPI_Sendrecv", out, out_count, out_type, target, out_tag, comm);
  return code ? code : MPI_Recv(in, in_count, in_type, source, in_tag, comm, status);
}
API int MPI_Sendrecv_replace(void* data, int count, MPI_Datatype type, int target, int out_tag, int source, int in_tag,
                             MPI_Comm comm, MPI_Status* status) {
  return MPI_Sendrecv(data, count, type, target, out_tag, data, count, type, source, in_tag, comm, status);
}
API int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int code = MPI_SUCCESS;
  for (int i = 0; i < count && !code; i++) code = MPI_Wait(requests + i, statuses ? statuses + i : nullptr);
  return code;
}
API int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  *index = MPI_UNDEFINED;
  *flag = 1;
  for (int i = 0; i < count; i++) {
    if (!requests[i]) continue;
    *flag = 0;
    if (requests[i]->done) return *index = i, MPI_Test(requests + i, flag, status);
  }
  return MPI_SUCCESS;
}
API int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  int flag = 0;
  MPI_Testany(count, requests, index, &flag, status);
  if (flag) return MPI_SUCCESS;
  for (int i = 0; i < count; i++)
    if (requests[i]) return *index = i, MPI_Wait(requests + i, status);
  return MPI_SUCCESS;
}
API int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  *done = 0;
  for (int i = 0; i < count; i++)
    if (requests[i]) {
      if (int code = MPI_Wait(requests + i, statuses ? statuses + *done : nullptr)) return code;
      indices[(*done)++] = i;
    }
  if (*done == 0) *done = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
API int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  *flag = 1;
  for (int i = 0; i < count; i++)
    if (requests[i] && !requests[i]->done) *flag = 0;
  return *flag ? MPI_Waitall(count, requests, statuses) : MPI_SUCCESS;
}
API int MPI_Iprobe(int, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  std::lock_guard<std::recursive_mutex> held(mutex);
  *flag = 0;
  for (const Message& each : messages)
    if (each.comm == comm && (tag == MPI_ANY_TAG || tag == each.tag)) {
      say(status, 0, each.tag, each.data.size());
      *flag = 1;
      break;
    }
  return check("MPI_Iprobe", comm, MPI_BYTE, 0);
}
API int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  int flag = 0;
  if (int code = MPI_Iprobe(source, tag, comm, &flag, status)) return code;
  return flag ? MPI_SUCCESS : fail("MPI_Probe", MPI_ERR_OTHER, "no message is on its way, and there is no other process.");
}
API int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  size_t bytes = types()[type].bytes;
  *count = bytes == 0 ? 0 : status->gpulab_bytes % bytes ? MPI_UNDEFINED : static_cast<int>(status->gpulab_bytes / bytes);
  return MPI_SUCCESS;
}

// ------------------------------------------------------------------------------------ collective operations

static int rooted(const char* function, int root, MPI_Comm comm) {
  if (int code = check(function, comm, MPI_BYTE, 0)) return code;
  return root == 0 ? MPI_SUCCESS : fail(function, MPI_ERR_ROOT, "there is no rank " + std::to_string(root) + " as its root.");
}
API int MPI_Barrier(MPI_Comm comm) { return check("MPI_Barrier", comm, MPI_BYTE, 0); }
API int MPI_Bcast(void*, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  if (int code = check("MPI_Bcast", comm, type, count)) return code;
  return rooted("MPI_Bcast", root, comm);
}
API int MPI_Reduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op, int root, MPI_Comm comm) {
  if (int code = rooted("MPI_Reduce", root, comm)) return code;
  return copy("MPI_Reduce", out, count, type, in, count, type, comm);
}
API int MPI_Allreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  return copy("MPI_Allreduce", out, count, type, in, count, type, comm);
}
API int MPI_Reduce_scatter(const void* out, void* in, const int* counts, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  return copy("MPI_Reduce_scatter", out, counts[0], type, in, counts[0], type, comm);
}
API int MPI_Reduce_scatter_block(const void* out, void* in, int count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  return copy("MPI_Reduce_scatter_block", out, count, type, in, count, type, comm);
}
API int MPI_Scan(const void* out, void* in, int count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  return copy("MPI_Scan", out, count, type, in, count, type, comm);
}
API int MPI_Exscan(const void*, void*, int count, MPI_Datatype type, MPI_Op, MPI_Comm comm) {
  return check("MPI_Exscan", comm, type, count);  // the result of rank 0 is undefined
}
API int MPI_Gather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type, int root,
                   MPI_Comm comm) {
  if (int code = rooted("MPI_Gather", root, comm)) return code;
  return copy("MPI_Gather", out, out_count, out_type, in, in_count, in_type, comm);
}
API int MPI_Gatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int* counts, const int* places,
                    MPI_Datatype in_type, int root, MPI_Comm comm) {
  if (int code = rooted("MPI_Gatherv", root, comm)) return code;
  return copy("MPI_Gatherv", out, out_count, out_type, at(in, places, in_type), counts[0], in_type, comm);
}
API int MPI_Scatter(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                    int root, MPI_Comm comm) {
  if (int code = rooted("MPI_Scatter", root, comm)) return code;
  return copy("MPI_Scatter", out, out_count, out_type, in, in_count, in_type, comm);
}
API int MPI_Scatterv(const void* out, const int* counts, const int* places, MPI_Datatype out_type, void* in, int in_count,
                     MPI_Datatype in_type, int root, MPI_Comm comm) {
  if (int code = rooted("MPI_Scatterv", root, comm)) return code;
  return copy("MPI_Scatterv", at(out, places, out_type), counts[0], out_type, in, in_count, in_type, comm);
}
API int MPI_Allgather(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                      MPI_Comm comm) {
  return copy("MPI_Allgather", out, out_count, out_type, in, in_count, in_type, comm);
}
API int MPI_Allgatherv(const void* out, int out_count, MPI_Datatype out_type, void* in, const int* counts, const int* places,
                       MPI_Datatype in_type, MPI_Comm comm) {
  return copy("MPI_Allgatherv", out, out_count, out_type, at(in, places, in_type), counts[0], in_type, comm);
}
API int MPI_Alltoall(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count, MPI_Datatype in_type,
                     MPI_Comm comm) {
  return copy("MPI_Alltoall", out, out_count, out_type, in, in_count, in_type, comm);
}
API int MPI_Alltoallv(const void* out, const int* out_counts, const int* out_places, MPI_Datatype out_type, void* in,
                      const int* in_counts, const int* in_places, MPI_Datatype in_type, MPI_Comm comm) {
  return copy("MPI_Alltoallv", at(out, out_places, out_type), out_counts[0], out_type, at(in, in_places, in_type),
              in_counts[0], in_type, comm);
}
API int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  int code = MPI_Barrier(comm);
  return code ? code : completed(request);
}
API int MPI_Ibcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  int code = MPI_Bcast(data, count, type, root, comm);
  return code ? code : completed(request);
}
API int MPI_Ireduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm,
                    MPI_Request* request) {
  int code = MPI_Reduce(out, in, count, type, op, root, comm);
  return code ? code : completed(request);
}
API int MPI_Iallreduce(const void* out, void* in, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                       MPI_Request* request) {
  int code = MPI_Allreduce(out, in, count, type, op, comm);
  return code ? code : completed(request);
}
