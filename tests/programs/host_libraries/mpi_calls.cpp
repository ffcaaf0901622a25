// Calls of mpi.h with one rank, against numbers worked out by hand from the MPI standard 4.1. An argument names what ends
// the program.
#include <mpi.h>
#include <unistd.h>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <chrono>
static int failures = 0;
static void check(int line, const char* text, bool holds) {
  if (!holds) std::printf("line %d: %s\n", line, text), failures++;
}
static void same(int line, const char* text, long found, long expected) {
  if (found != expected) std::printf("line %d: %s is %ld\n", line, text, found), failures++;
}
#define CHECK(...) check(__LINE__, #__VA_ARGS__, __VA_ARGS__)
#define SAME(what, expected) same(__LINE__, #what, what, expected)
static const MPI_Comm world = MPI_COMM_WORLD;
// Not called: with one rank there is nothing to combine.
static void no_operation(void*, void*, int*, MPI_Datatype*) {}

static int size_of(MPI_Datatype type) {
  int size = -1;
  MPI_Type_size(type, &size);
  return size;
}
static void bounds(int line, MPI_Datatype type, long size, long lower, long extent) {
  MPI_Aint low = -9, all = -9;
  MPI_Type_get_extent(type, &low, &all);
  if (size_of(type) != size || low != lower || all != extent) {
    std::printf("line %d: size %d, from %ld, extent %ld\n", line, size_of(type), (long)low, (long)all);
    failures++;
  }
}
#define BOUNDS(...) bounds(__LINE__, __VA_ARGS__)
// What is sent as one type and received as integers, with a space behind each.
static std::string taken(MPI_Datatype type, int count, const int* data) {
  int got[64], found = -1;
  MPI_Status status;
  std::memset(got, 0xff, sizeof got);
  MPI_Sendrecv(data, count, type, 0, 3, got, 64, MPI_INT, 0, 3, world, &status);
  MPI_Get_count(&status, MPI_INT, &found);
  std::string text;
  for (int i = 0; i < found; i++) text += std::to_string(got[i]) + " ";
  if (got[found] != -1) text += "and more";
  return text;
}

static void datatypes() {
  struct FloatInt { float a; int b; };
  struct DoubleInt { double a; int b; };
  struct LongInt { long a; int b; };
  struct ShortInt { short a; int b; };
  const struct { MPI_Datatype type; int bytes; } sizes[] = {
    {MPI_CHAR, 1}, {MPI_SIGNED_CHAR, 1}, {MPI_UNSIGNED_CHAR, 1}, {MPI_BYTE, 1}, {MPI_PACKED, 1}, {MPI_INT8_T, 1},
    {MPI_UINT8_T, 1}, {MPI_C_BOOL, 1}, {MPI_SHORT, 2}, {MPI_UNSIGNED_SHORT, 2}, {MPI_INT16_T, 2}, {MPI_UINT16_T, 2},
    {MPI_INT, 4}, {MPI_UNSIGNED, 4}, {MPI_FLOAT, 4}, {MPI_INT32_T, 4}, {MPI_UINT32_T, 4}, {MPI_WCHAR, sizeof(wchar_t)},
    {MPI_LONG, 8}, {MPI_UNSIGNED_LONG, 8}, {MPI_LONG_LONG, 8}, {MPI_UNSIGNED_LONG_LONG, 8}, {MPI_DOUBLE, 8},
    {MPI_INT64_T, 8}, {MPI_UINT64_T, 8}, {MPI_C_FLOAT_COMPLEX, 8}, {MPI_AINT, 8}, {MPI_OFFSET, 8}, {MPI_COUNT, 8},
    {MPI_2INT, 8}, {MPI_FLOAT_INT, sizeof(FloatInt)}, {MPI_LONG_DOUBLE, sizeof(long double)}, {MPI_C_DOUBLE_COMPLEX, 16},
    {MPI_DOUBLE_INT, sizeof(DoubleInt)}, {MPI_LONG_INT, sizeof(LongInt)}, {MPI_SHORT_INT, sizeof(ShortInt)},
  };
  for (auto& one : sizes) BOUNDS(one.type, one.bytes, 0, one.bytes);
  SAME(sizeof sizes / sizeof *sizes, gpulab_mpi_types - 1);
  // what a compiler puts behind a character
  const struct { MPI_Datatype type; size_t place; } places[] = {
#define BEHIND(TYPE, kind) {TYPE, [] { struct Behind { char first; kind second; }; return offsetof(Behind, second); }()}
    BEHIND(MPI_SHORT, short), BEHIND(MPI_INT16_T, short), BEHIND(MPI_INT, int), BEHIND(MPI_WCHAR, wchar_t),
    BEHIND(MPI_FLOAT, float), BEHIND(MPI_LONG, long), BEHIND(MPI_DOUBLE, double), BEHIND(MPI_2INT, FloatInt),
    BEHIND(MPI_FLOAT_INT, FloatInt), BEHIND(MPI_C_FLOAT_COMPLEX, float _Complex), BEHIND(MPI_C_DOUBLE_COMPLEX, double _Complex),
    BEHIND(MPI_LONG_DOUBLE, long double), BEHIND(MPI_DOUBLE_INT, DoubleInt), BEHIND(MPI_LONG_INT, LongInt),
    BEHIND(MPI_SHORT_INT, ShortInt), BEHIND(MPI_BYTE, char), BEHIND(MPI_C_BOOL, bool),
  };
  for (auto& one : places) {
    MPI_Datatype kinds[2] = {one.type, MPI_CHAR}, made;
    int counts[2] = {1, 1};
    MPI_Aint at[2] = {0, (MPI_Aint)size_of(one.type)};
    MPI_Type_create_struct(2, counts, at, kinds, &made);
    BOUNDS(made, size_of(one.type) + 1, 0, size_of(one.type) + one.place);
  }

  int data[40];
  for (int i = 0; i < 40; i++) data[i] = i;
  MPI_Datatype made, other;
  MPI_Type_contiguous(3, MPI_INT, &made);
  MPI_Type_commit(&made);
  BOUNDS(made, 12, 0, 12);
  CHECK(taken(made, 2, data) == "0 1 2 3 4 5 ");
  MPI_Type_vector(3, 2, 4, MPI_INT, &made);  // 0 1 . . 4 5 . . 8 9
  BOUNDS(made, 24, 0, 40);
  CHECK(taken(made, 2, data) == "0 1 4 5 8 9 10 11 14 15 18 19 ");
  MPI_Type_create_hvector(2, 1, 20, MPI_INT, &other);
  BOUNDS(other, 8, 0, 24);
  CHECK(taken(other, 2, data) == "0 5 6 11 ");
  MPI_Type_create_hvector(2, 1, -8, MPI_INT, &other);
  BOUNDS(other, 8, -8, 12);
  CHECK(taken(other, 2, data + 4) == "4 2 7 5 ");
  int lengths[3] = {1, 2, 1}, starts[3] = {6, 2, 9};
  MPI_Type_indexed(3, lengths, starts, MPI_INT, &other);  // from 2 to 10
  BOUNDS(other, 16, 8, 32);
  CHECK(taken(other, 2, data) == "6 2 3 9 14 10 11 17 ");
  MPI_Type_indexed(1, lengths, starts + 1, MPI_INT, &other);  // the element 2 alone
  BOUNDS(other, 4, 8, 4);
  CHECK(taken(other, 3, data) == "2 3 4 ");
  MPI_Type_create_resized(MPI_INT, 0, 12, &made);
  BOUNDS(made, 4, 0, 12);
  CHECK(taken(made, 3, data) == "0 3 6 ");
  MPI_Type_create_resized(MPI_INT, -4, 8, &other);
  BOUNDS(other, 4, -4, 8);
  MPI_Type_vector(2, 2, 3, made, &other);  // of elements that are 12 bytes apart: 0 3 . 9 12, up to 15
  BOUNDS(other, 16, 0, 60);
  CHECK(taken(other, 2, data) == "0 3 9 12 15 18 24 27 ");
  int whole[2] = {3, 5}, part[2] = {2, 3}, from[2] = {1, 2};
  MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_C, MPI_INT, &made);  // rows of 5
  BOUNDS(made, 24, 0, 60);
  CHECK(taken(made, 2, data) == "7 8 9 12 13 14 22 23 24 27 28 29 ");
  MPI_Type_create_subarray(2, whole, part, from, MPI_ORDER_FORTRAN, MPI_INT, &made);  // columns of 3
  BOUNDS(made, 24, 0, 60);
  CHECK(taken(made, 1, data) == "7 8 10 11 13 14 ");
  struct Mixed { char name[3]; double value; int count[2]; };
  int blocks[3] = {3, 1, 2};
  MPI_Aint at[3] = {offsetof(Mixed, name), offsetof(Mixed, value), offsetof(Mixed, count)};
  MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, blocks, at, kinds, &made);
  BOUNDS(made, 19, 0, sizeof(Mixed));
  Mixed out[2] = {{{'a', 'b', 'c'}, 1.5, {1, 2}}, {{'d', 'e', 'f'}, 2.5, {3, 4}}}, in[2];
  std::memset((void*)in, 0, sizeof in);
  MPI_Sendrecv(out, 2, made, 0, 0, in, 2, made, 0, 0, world, MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; i++) {
    CHECK(std::memcmp(in[i].name, out[i].name, 3) == 0 && in[i].value == out[i].value);
    SAME(in[i].count[0], 1 + 2 * i);
    SAME(in[i].count[1], 2 + 2 * i);
  }
  MPI_Type_create_struct(2, blocks + 1, at, kinds + 1, &other);  // it ends at 16
  BOUNDS(other, 16, 0, 16);
  // part of what is received: the last element stays as it was
  int room[6] = {-1, -1, -1, -1, -1, -1};
  MPI_Type_vector(2, 1, 2, MPI_INT, &other);
  MPI_Sendrecv(data + 5, 3, MPI_INT, 0, 0, room, 2, other, 0, 0, world, MPI_STATUS_IGNORE);
  SAME(room[0], 5), SAME(room[1], -1), SAME(room[2], 6), SAME(room[3], 7), SAME(room[4], -1), SAME(room[5], -1);
  MPI_Status status;
  int count = -1;
  MPI_Send(data, 3, MPI_SHORT, 0, 4, world);
  MPI_Recv(room, 6, MPI_INT, 0, 4, world, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  SAME(count, MPI_UNDEFINED);
  MPI_Get_count(&status, MPI_SHORT, &count);
  SAME(count, 3);
  char letters[4] = "abc", copied[4] = "xyz";
  MPI_Sendrecv(letters, 2, MPI_CHAR, 0, 0, copied, 3, MPI_CHAR, 0, 0, world, MPI_STATUS_IGNORE);
  CHECK(std::strcmp(copied, "abz") == 0);
  MPI_Type_contiguous(0, MPI_INT, &other);
  BOUNDS(other, 0, 0, 0);
  MPI_Get_count(&status, other, &count);
  SAME(count, 0);
  MPI_Aint first, second;
  MPI_Get_address(&out[0], &first);
  MPI_Get_address(&out[1], &second);
  SAME(second - first, sizeof(Mixed));
}

static void communicators() {
  int value = -1, flag = -1, *bound = nullptr;
  MPI_Comm made = -1, copy;
  MPI_Group group, empty;
  SAME(MPI_Comm_split(world, MPI_UNDEFINED, 0, &made), 0), SAME(made, MPI_COMM_NULL);
  SAME(MPI_Comm_split(world, 0, 0, &made), 0), CHECK(made > MPI_COMM_SELF);
  MPI_Comm_rank(made, &value), SAME(value, 0);
  MPI_Comm_dup(made, &copy), SAME(copy, made + 1);
  MPI_Comm_compare(made, made, &value), SAME(value, MPI_IDENT);
  MPI_Comm_compare(made, copy, &value), SAME(value, MPI_CONGRUENT);
  SAME(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made), 0);
  MPI_Comm_size(made, &value), SAME(value, 1);
  SAME(MPI_Comm_free(&made), 0), SAME(made, MPI_COMM_NULL);
  SAME(MPI_Comm_group(world, &group), 0);
  MPI_Group_size(group, &value), SAME(value, 1);
  MPI_Group_rank(group, &value), SAME(value, 0);
  const int ranks[1] = {0};
  MPI_Group_incl(group, 0, ranks, &empty), SAME(empty, MPI_GROUP_EMPTY);
  MPI_Group_size(empty, &value), SAME(value, 0);
  MPI_Group_rank(empty, &value), SAME(value, MPI_UNDEFINED);
  MPI_Comm_create(world, empty, &made), SAME(made, MPI_COMM_NULL);
  MPI_Group_incl(group, 1, ranks, &empty);
  MPI_Group_size(empty, &value), SAME(value, 1);
  MPI_Comm_create(world, empty, &made), CHECK(made > copy);
  MPI_Group_free(&group), SAME(group, MPI_GROUP_NULL);
  SAME(MPI_Comm_set_name(world, "all"), 0);
  SAME(MPI_Comm_get_attr(world, MPI_TAG_UB, &bound, &flag), 0), SAME(flag, 1), SAME(*bound, 1 << 30);
  bound = nullptr;
  SAME(MPI_Comm_get_attr(world, MPI_IO, &bound, &flag), 0), SAME(flag, 0), CHECK(!bound);

  int sides[3] = {0, 1, 0}, wraps[3] = {1, 0, 1}, got[3] = {7, 7, 7}, periods[3] = {7, 7, 7}, at[3] = {7, 7, 7};
  SAME(MPI_Dims_create(1, 3, sides), 0), CHECK(sides[0] == 1 && sides[1] == 1 && sides[2] == 1);
  SAME(MPI_Cart_create(world, 3, sides, wraps, 0, &made), 0);
  SAME(MPI_Cartdim_get(made, &value), 0), SAME(value, 3);
  MPI_Comm_dup(made, &copy);
  MPI_Cartdim_get(copy, &value), SAME(value, 3);
  MPI_Cartdim_get(world, &value), SAME(value, 0);
  MPI_Cart_get(made, 2, got, periods, at);
  CHECK(got[0] == 1 && got[1] == 1 && got[2] == 7 && at[0] == 0 && at[1] == 0 && at[2] == 7);
  CHECK(periods[0] == 1 && periods[1] == 0 && periods[2] == 7);
  got[1] = periods[2] = 7;
  MPI_Cart_get(made, 3, got, periods, at), CHECK(got[1] == 1 && got[2] == 1 && periods[2] == 1 && at[2] == 0);
  int four[4] = {8, 8, 8, 8}, more[4] = {8, 8, 8, 8}, last[4] = {8, 8, 8, 8};
  MPI_Cart_get(made, 4, four, more, last), CHECK(four[2] == 1 && four[3] == 8 && more[3] == 8 && last[3] == 8);
  at[1] = at[2] = 7;
  MPI_Cart_coords(made, 0, 2, at), CHECK(at[0] == 0 && at[1] == 0 && at[2] == 7);
  value = -1;
  MPI_Cart_rank(made, at, &value), SAME(value, 0);
  const int shifts[5][3] = {{0, 1, 0}, {1, 1, MPI_PROC_NULL}, {1, 0, 0}, {2, -1, 0}, {3, 1, MPI_PROC_NULL}};
  for (auto& one : shifts) {
    int source = -9, target = -9;
    MPI_Cart_shift(made, one[0], one[1], &source, &target);
    SAME(source, one[2]), SAME(target, one[2]);
  }
}

static void requests() {
  int flag = -1, index = -1, done = -1, count = -1, got[4] = {}, values[4] = {11, 12, 13, 14}, indices[3] = {-1, -1, -1};
  MPI_Status status, all[3];
  MPI_Request one[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  // nothing is under way
  status.MPI_SOURCE = status.MPI_TAG = 9;
  SAME(MPI_Test(one, &flag, &status), 0), SAME(flag, 1);
  SAME(status.MPI_SOURCE, MPI_ANY_SOURCE), SAME(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_BYTE, &count), SAME(count, 0);
  SAME(MPI_Testany(2, one, &index, &flag, &status), 0), SAME(flag, 1), SAME(index, MPI_UNDEFINED);
  index = 5;
  SAME(MPI_Waitany(2, one, &index, &status), 0), SAME(index, MPI_UNDEFINED);
  SAME(MPI_Waitsome(2, one, &done, indices, all), 0), SAME(done, MPI_UNDEFINED);
  SAME(MPI_Testall(2, one, &flag, all), 0), SAME(flag, 1);
  // the second of three receives is served first, by its tag
  for (int i = 0; i < 3; i++) MPI_Irecv(got + i, 1, MPI_INT, 0, 20 + i, world, one + i);
  MPI_Test(one, &flag, &status), SAME(flag, 0);
  MPI_Testall(3, one, &flag, all), SAME(flag, 0);
  MPI_Testany(3, one, &index, &flag, &status), SAME(flag, 0), SAME(index, MPI_UNDEFINED);
  MPI_Send(values + 1, 1, MPI_INT, 0, 21, MPI_COMM_SELF);  // another communicator
  MPI_Testany(3, one, &index, &flag, &status), SAME(flag, 0);
  MPI_Recv(got + 3, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &status), SAME(got[3], 12);
  MPI_Send(values + 1, 1, MPI_INT, 0, 21, world);
  MPI_Testall(3, one, &flag, all), SAME(flag, 0);
  MPI_Testany(3, one, &index, &flag, &status), SAME(flag, 1), SAME(index, 1), SAME(status.MPI_TAG, 21);
  CHECK(got[1] == 12 && one[1] == MPI_REQUEST_NULL && one[0] && one[2]);
  MPI_Send(values + 2, 1, MPI_INT, 0, 22, world);
  index = -1;
  MPI_Waitany(3, one, &index, &status), SAME(index, 2), SAME(got[2], 13), CHECK(one[2] == MPI_REQUEST_NULL);
  MPI_Cancel(one);
  MPI_Wait(one, MPI_STATUS_IGNORE), CHECK(one[0] == MPI_REQUEST_NULL);
  got[0] = 0;
  MPI_Send(values, 1, MPI_INT, 0, 20, world);  // which nobody waits for any more
  SAME(got[0], 0);
  MPI_Iprobe(0, 19, world, &flag, &status), SAME(flag, 0);
  MPI_Iprobe(0, 20, MPI_COMM_SELF, &flag, &status), SAME(flag, 0);
  SAME(MPI_Probe(0, MPI_ANY_TAG, world, &status), 0), SAME(status.MPI_TAG, 20), SAME(status.MPI_SOURCE, 0);
  MPI_Recv(got, 1, MPI_INT, 0, 20, world, MPI_STATUS_IGNORE), SAME(got[0], 11);
  MPI_Irecv(got, 1, MPI_INT, 0, 20, world, one);
  MPI_Request_free(one), CHECK(one[0] == MPI_REQUEST_NULL);
  // all of several, with their states
  for (int i = 0; i < 3; i++) MPI_Irecv(got + i, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, one + i);
  for (int i = 0; i < 3; i++) MPI_Ssend(values + i, 1, MPI_INT, 0, 30 + i, world);
  SAME(MPI_Testall(3, one, &flag, all), 0), SAME(flag, 1);
  for (int i = 0; i < 3; i++) CHECK(got[i] == values[i] && all[i].MPI_TAG == 30 + i && one[i] == MPI_REQUEST_NULL);
  MPI_Irecv(got, 1, MPI_INT, MPI_PROC_NULL, 5, world, one + 1);
  MPI_Issend(values + 3, 1, MPI_INT, 0, 33, world, one + 2);
  MPI_Waitsome(3, one, &done, indices, all), SAME(done, 2), SAME(indices[0], 1), SAME(indices[1], 2);
  CHECK(all[0].MPI_SOURCE == MPI_PROC_NULL && all[0].MPI_TAG == MPI_ANY_TAG && indices[2] == -1);
  CHECK(one[1] == MPI_REQUEST_NULL && one[2] == MPI_REQUEST_NULL);
  MPI_Irecv(got, 1, MPI_INT, 0, 33, world, one);
  MPI_Wait(one, &status), SAME(got[0], 14), SAME(status.MPI_TAG, 33);
  MPI_Bsend(values, 1, MPI_INT, MPI_PROC_NULL, 0, world);
  MPI_Rsend(values, 1, MPI_INT, 0, 40, world);
  MPI_Bsend(values + 1, 1, MPI_INT, 0, 41, world);
  MPI_Recv(got, 4, MPI_INT, 0, MPI_ANY_TAG, world, &status), SAME(status.MPI_TAG, 40);
  MPI_Recv(got + 1, 4, MPI_INT, 0, MPI_ANY_TAG, world, &status), SAME(status.MPI_TAG, 41);
  CHECK(got[0] == 11 && got[1] == 12);
  // requests that are used again and again
  MPI_Send_init(values, 2, MPI_INT, 0, 50, world, one);
  MPI_Recv_init(got, 2, MPI_INT, 0, 50, world, one + 1);
  for (int round = 0; round < 3; round++) {
    values[1] = 100 + round;
    SAME(MPI_Startall(2, one), 0);
    SAME(MPI_Waitall(2, one, all), 0), SAME(got[1], 100 + round), SAME(all[1].MPI_TAG, 50);
    CHECK(one[0] && one[1]);
  }
  SAME(MPI_Start(one + 1), 0), MPI_Test(one + 1, &flag, &status), SAME(flag, 0);
  SAME(MPI_Start(one), 0), MPI_Test(one + 1, &flag, &status), SAME(flag, 1);
  MPI_Request_free(one), MPI_Request_free(one + 1);
  int swapped = 5;
  MPI_Sendrecv_replace(&swapped, 1, MPI_INT, 0, 60, 0, 60, world, &status), SAME(swapped, 5), SAME(status.MPI_TAG, 60);
}

static void collectives() {
  // each copies two of three numbers, to where it is told; nothing else is written
  const int out[3] = {21, 22, 23}, counts[2] = {2, 1}, places[2] = {1, 0};
  int in[4];
#define COPIES(first, ...)                                                                        \
  do {                                                                                            \
    for (int& each : in) each = 0;                                                                \
    same(__LINE__, #__VA_ARGS__, __VA_ARGS__, 0);                                                                     \
    CHECK(in[first] == 21 && in[first + 1] == 22 && in[first + 2] == 0 && (first == 0 || !in[0])); \
  } while (0)
  MPI_Request request;
  COPIES(0, MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, world));
  COPIES(0, MPI_Allreduce(out, in, 2, MPI_INT, MPI_PROD, world));
  COPIES(0, MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world));
  COPIES(0, MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, world));
  COPIES(0, MPI_Scan(out, in, 2, MPI_INT, MPI_SUM, world));
  COPIES(0, MPI_Gather(out, 2, MPI_INT, in, 2, MPI_INT, 0, world));
  COPIES(1, MPI_Gatherv(out, 2, MPI_INT, in, counts, places, MPI_INT, 0, world));
  COPIES(0, MPI_Scatter(out, 2, MPI_INT, in, 2, MPI_INT, 0, world));
  COPIES(0, MPI_Scatterv(out - 1, counts, places, MPI_INT, in, 2, MPI_INT, 0, world));
  COPIES(0, MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, world));
  COPIES(1, MPI_Allgatherv(out, 2, MPI_INT, in, counts, places, MPI_INT, world));
  COPIES(0, MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, world));
  COPIES(1, MPI_Alltoallv(out - 1, counts, places, MPI_INT, in, counts, places, MPI_INT, world));
  COPIES(0, MPI_Ireduce(out, in, 2, MPI_INT, MPI_SUM, 0, world, &request));
  MPI_Wait(&request, MPI_STATUS_IGNORE), CHECK(request == MPI_REQUEST_NULL);
  COPIES(0, MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, world, &request));
  MPI_Wait(&request, MPI_STATUS_IGNORE), CHECK(request == MPI_REQUEST_NULL);
  in[0] = 77;
  SAME(MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, world), 0), SAME(in[0], 77);
  SAME(MPI_Bcast(in, 1, MPI_INT, 0, world), 0), SAME(in[0], 77);
  SAME(MPI_Gather(MPI_IN_PLACE, 2, MPI_INT, in, 2, MPI_INT, 0, world), 0), SAME(in[0], 77);
  SAME(MPI_Scatterv(in, counts, places, MPI_INT, MPI_IN_PLACE, 2, MPI_INT, 0, world), 0), SAME(in[0], 77);
  SAME(MPI_Gatherv(MPI_IN_PLACE, 2, MPI_INT, in, counts, places, MPI_INT, 0, world), 0), SAME(in[0], 77);
  SAME(MPI_Alltoallv(MPI_IN_PLACE, counts, places, MPI_INT, in, counts, places, MPI_INT, world), 0), SAME(in[0], 77);
  request = MPI_REQUEST_NULL;
  SAME(MPI_Ibcast(in, 1, MPI_INT, 0, world, &request), 0), CHECK(request != MPI_REQUEST_NULL);
  MPI_Status status;
  int flag = 0, count = -1;
  MPI_Test(&request, &flag, &status), SAME(flag, 1), SAME(status.MPI_SOURCE, 0), SAME(status.MPI_TAG, MPI_ANY_TAG);
  MPI_Get_count(&status, MPI_BYTE, &count), SAME(count, 0);
  SAME(MPI_Ibarrier(world, &request), 0);
  MPI_Wait(&request, &status), CHECK(request == MPI_REQUEST_NULL);
}

static void errors() {
  int value = 1, two[2] = {1, 2}, length = -1, counts[2] = {1, 2};
  char text[MPI_MAX_ERROR_STRING];
  MPI_Comm made;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  SAME(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM), SAME(MPI_Barrier(-1), MPI_ERR_COMM), SAME(MPI_Barrier(1000), MPI_ERR_COMM);
  SAME(MPI_Comm_rank(MPI_COMM_NULL, &value), MPI_ERR_COMM), SAME(MPI_Comm_size(99, &value), MPI_ERR_COMM);
  MPI_Comm_split(world, 0, 0, &made);
  SAME(MPI_Barrier(made), 0), SAME(MPI_Barrier(made + 1), MPI_ERR_COMM);
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  SAME(MPI_Bcast(two, 1, type, 0, world), 0), SAME(MPI_Bcast(two, 1, type + 1, 0, world), MPI_ERR_TYPE);
  SAME(MPI_Bcast(two, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE), SAME(MPI_Bcast(two, 1, -3, 0, world), MPI_ERR_TYPE);
  SAME(MPI_Bcast(two, 1, MPI_CHAR, 0, world), 0), SAME(MPI_Gather(two, 1, MPI_CHAR, two, 1, MPI_CHAR, 0, world), 0);
  SAME(MPI_Bcast(two, -1, MPI_INT, 0, world), MPI_ERR_COUNT), SAME(MPI_Bcast(two, 0, MPI_INT, 0, world), 0);
  SAME(MPI_Bcast(two, 1, MPI_INT, 1, world), MPI_ERR_ROOT);
  SAME(MPI_Reduce(two, &value, 1, MPI_INT, MPI_SUM, 2, world), MPI_ERR_ROOT);
  SAME(MPI_Gather(two, 1, MPI_INT, &value, 1, MPI_INT, 1, world), MPI_ERR_ROOT);
  SAME(MPI_Gatherv(two, 1, MPI_INT, &value, counts, counts, MPI_INT, 1, world), MPI_ERR_ROOT);
  SAME(MPI_Scatter(two, 1, MPI_INT, &value, 1, MPI_INT, 1, world), MPI_ERR_ROOT);
  SAME(MPI_Scatterv(two, counts, counts, MPI_INT, &value, 1, MPI_INT, 1, world), MPI_ERR_ROOT);
  SAME(MPI_Allgather(two, 2, MPI_INT, &value, 1, MPI_INT, world), MPI_ERR_TRUNCATE);
  SAME(MPI_Allgather(two, 1, -1, &value, 1, MPI_INT, world), MPI_ERR_TYPE);
  SAME(MPI_Allgather(two, 1, MPI_INT, &value, 1, -1, world), MPI_ERR_TYPE);
  SAME(MPI_Exscan(two, &value, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
  SAME(MPI_Ibarrier(99, &request), MPI_ERR_COMM), SAME(MPI_Ibcast(two, -1, MPI_INT, 0, world, &request), MPI_ERR_COUNT);
  SAME(MPI_Ireduce(two, &value, 1, MPI_INT, MPI_SUM, 3, world, &request), MPI_ERR_ROOT);
  SAME(MPI_Iallreduce(two, &value, 1, MPI_INT, MPI_SUM, 99, &request), MPI_ERR_COMM);
  SAME(MPI_Send(two, 1, MPI_INT, 1, 0, world), MPI_ERR_RANK), SAME(MPI_Send(two, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
  SAME(MPI_Isend(two, 1, MPI_INT, 2, 0, world, &request), MPI_ERR_RANK);
  SAME(MPI_Send_init(two, 1, MPI_INT, 0, 0, 99, &request), MPI_ERR_COMM);
  MPI_Request_free(&request);
  SAME(MPI_Irecv(two, 1, MPI_INT, 1, 0, world, &request), MPI_ERR_RANK);
  SAME(MPI_Irecv(two, 1, MPI_INT, 0, 0, 99, &request), MPI_ERR_COMM), CHECK(request == MPI_REQUEST_NULL);
  SAME(MPI_Recv(two, 1, MPI_INT, -7, 0, world, &status), MPI_ERR_RANK);
  SAME(MPI_Recv(two, 1, MPI_INT, 0, 0, world, &status), MPI_ERR_OTHER);  // nothing was sent
  SAME(MPI_Probe(0, 99, world, &status), MPI_ERR_OTHER), SAME(MPI_Probe(0, 0, 99, &status), MPI_ERR_COMM);
  SAME(MPI_Sendrecv(two, 1, MPI_INT, 4, 0, &value, 1, MPI_INT, 0, 0, world, &status), MPI_ERR_RANK);
  SAME(MPI_Send(two, 2, MPI_INT, 0, 70, world), 0);
  SAME(MPI_Recv(&value, 1, MPI_INT, 0, 70, world, &status), MPI_ERR_TRUNCATE);
  MPI_Irecv(&value, 1, MPI_INT, 0, 71, world, &request);
  SAME(MPI_Wait(&request, &status), MPI_ERR_OTHER);
  MPI_Request both[2] = {request, request};
  SAME(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_ERR_OTHER);
  int done, indices[2];
  SAME(MPI_Waitsome(2, both, &done, indices, MPI_STATUSES_IGNORE), MPI_ERR_OTHER);
  int sides[2] = {0, 2}, index = -1;
  int first_side[2] = {2, 0};
  SAME(MPI_Dims_create(1, 2, first_side), MPI_ERR_ARG);
  SAME(MPI_Cart_create(world, 2, first_side, sides, 0, &made), MPI_ERR_ARG);
  SAME(MPI_Waitany(2, both, &index, &status), MPI_ERR_OTHER);
  SAME(MPI_Dims_create(1, 2, sides), MPI_ERR_ARG);
  sides[1] = -1;
  SAME(MPI_Dims_create(1, 2, sides), MPI_ERR_ARG);
  sides[1] = 1;
  SAME(MPI_Dims_create(2, 2, sides), MPI_ERR_ARG);
  sides[0] = 2;
  SAME(MPI_Cart_create(world, 2, sides, sides, 0, &made), MPI_ERR_ARG);
  MPI_Error_string(6, text, &length), SAME(length, 11), CHECK(std::strcmp(text, "MPI error 6") == 0);
  MPI_Error_string(MPI_SUCCESS, text, &length), SAME(length, 8), CHECK(std::strcmp(text, "no error") == 0);
  MPI_Error_class(13, &value), SAME(value, 13);
  MPI_Errhandler_set(world, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  int value = -1, other = -1, flag = -1, data[2] = {1, 2};
  MPI_Status status;
  MPI_Request request;
  if (mode == "early") MPI_Barrier(world);
  MPI_Initialized(&flag), SAME(flag, 0);
  if (mode == "threads") {
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, nullptr);
    MPI_Query_thread(&value), SAME(value, MPI_THREAD_MULTIPLE);
    std::thread sender([&] {
      for (int tag : {1, 2}) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        MPI_Send(data, 2, MPI_INT, 0, tag, world);
      }
    });
    int got[2] = {}, more[2] = {};
    MPI_Recv(got, 2, MPI_INT, 0, 1, world, &status);
    MPI_Irecv(more, 2, MPI_INT, 0, 2, world, &request);
    MPI_Wait(&request, &status);
    sender.join();
    CHECK(got[1] == 2 && more[1] == 2 && status.MPI_TAG == 2);
    std::printf("%d failures\n", failures);
    return failures;
  }
  MPI_Init(&argc, &argv);
  MPI_Initialized(&flag), SAME(flag, 1);
  MPI_Finalized(&flag), SAME(flag, 0);
  MPI_Query_thread(&value), SAME(value, MPI_THREAD_SINGLE);
  MPI_Is_thread_main(&value), SAME(value, 1);
  if (mode == "abort") std::printf("said before"), MPI_Abort(world, 9);
  if (mode == "wait") MPI_Irecv(data, 1, MPI_INT, 0, 0, world, &request), MPI_Wait(&request, &status);
  if (mode == "receive") MPI_Recv(data, 1, MPI_INT, 0, 0, world, &status);
  if (mode == "root") MPI_Bcast(data, 1, MPI_INT, 3, world);
  if (mode == "long") MPI_Send(data, 2, MPI_INT, 0, 0, world), MPI_Recv(data, 1, MPI_INT, 0, 0, world, &status);
  datatypes();
  communicators();
  requests();
  collectives();
  errors();
  MPI_Get_version(&value, &other), SAME(value, 4), SAME(other, 1);
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Get_library_version(text, &value), SAME(value, 24), CHECK(std::strcmp(text, "gpulab's MPI of one rank") == 0);
  char host[MPI_MAX_PROCESSOR_NAME], name[MPI_MAX_PROCESSOR_NAME];
  gethostname(host, sizeof host);
  MPI_Get_processor_name(name, &value), SAME(value, std::strlen(host)), CHECK(std::strcmp(host, name) == 0);
  MPI_Op operation = 0, second = 0;
  MPI_Op_create(no_operation, 1, &operation), CHECK(operation > MPI_NO_OP);
  MPI_Op_create(no_operation, 1, &second), SAME(second, operation + 1);
  MPI_Op_free(&operation), SAME(operation, MPI_OP_NULL);
  char* memory = nullptr;
  SAME(MPI_Alloc_mem(100, MPI_INFO_NULL, &memory), 0), CHECK(memory);
  std::memset(memory, 1, 100);
  SAME(MPI_Free_mem(memory), 0), SAME(MPI_Alloc_mem(0, MPI_INFO_NULL, &memory), 0), CHECK(memory);
  MPI_Info info = 0;
  MPI_Info_create(&info), CHECK(info != MPI_INFO_NULL && info != MPI_INFO_ENV);
  SAME(MPI_Info_set(info, "a", "b"), 0), MPI_Info_free(&info), SAME(info, MPI_INFO_NULL);
  double begun = MPI_Wtime();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  double slept = MPI_Wtime() - begun;
  CHECK(slept >= 0.02 && slept < 20 && MPI_Wtick() == 1e-9);
  SAME(MPI_Finalize(), 0);
  MPI_Finalized(&flag), SAME(flag, 1);
  std::printf("%d failures\n", failures);
  std::fflush(stdout);
  if (mode == "late") MPI_Barrier(world);
  return failures != 0;
}
