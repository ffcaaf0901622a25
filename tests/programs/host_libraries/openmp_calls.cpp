// Calls of OpenMP's runtime, against numbers worked out by hand from the OpenMP specification 5.2 and, for the functions
// that compilers call, from LLVM's description of their arguments. An argument names what is asked alone.
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <dirent.h>
#include <stdarg.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
static int failures = 0;
static void check(int line, const char* text, bool holds) {
  if (!holds) std::printf("line %d: %s\n", line, text), failures++;
}
static void same(int line, const char* text, long found, long expected) {
  if (found != expected) std::printf("line %d: %s is %ld\n", line, text, found), failures++;
}
static void same(int line, const char* text, const std::string& found, const char* expected) {
  if (found != expected) std::printf("line %d: %s is %s\n", line, text, found.c_str()), failures++;
}
#define CHECK(...) check(__LINE__, #__VA_ARGS__, __VA_ARGS__)
#define SAME(what, expected) same(__LINE__, #what, what, expected)

extern "C" {
#define LOOPS(suffix, T, S)                                                                                           \
  void __kmpc_for_static_init_##suffix(void*, int32_t, int32_t, int32_t*, T*, T*, S*, S, S);                          \
  void __kmpc_dist_for_static_init_##suffix(void*, int32_t, int32_t, int32_t*, T*, T*, T*, S*, S, S);                 \
  void __kmpc_team_static_init_##suffix(void*, int32_t, int32_t*, T*, T*, S*, S, S);                                  \
  void __kmpc_dispatch_init_##suffix(void*, int32_t, int32_t, T, T, S, S);                                            \
  int32_t __kmpc_dispatch_next_##suffix(void*, int32_t, int32_t*, T*, T*, S*);
LOOPS(4, int32_t, int32_t)
LOOPS(4u, uint32_t, int32_t)
LOOPS(8, int64_t, int64_t)
LOOPS(8u, uint64_t, int64_t)
void __kmpc_for_static_fini(void*, int32_t);
void __kmpc_dispatch_deinit(void*, int32_t);
void __kmpc_fork_call(void*, int32_t, void (*)(int32_t*, int32_t*, ...), ...);
void __kmpc_fork_call_if(void*, int32_t, void (*)(int32_t*, int32_t*, ...), int32_t, void*);
void __kmpc_push_num_threads(void*, int32_t, int32_t);
void __kmpc_push_num_threads_strict(void*, int32_t, int32_t, int, const char*);
void __kmpc_push_num_teams(void*, int32_t, int32_t, int32_t);
void __kmpc_push_num_teams_51(void*, int32_t, int32_t, int32_t, int32_t);
int32_t __kmpc_global_thread_num(void*);
int32_t __kmpc_bound_thread_num(void*);
int32_t __kmpc_global_num_threads(void*);
int32_t __kmpc_bound_num_threads(void*);
int32_t __kmpc_in_parallel(void*);
int32_t __kmpc_ok_to_fork(void*);
int32_t __kmpc_master(void*, int32_t);
int32_t __kmpc_masked(void*, int32_t, int32_t);
int32_t __kmpc_barrier_master(void*, int32_t);
void __kmpc_end_barrier_master(void*, int32_t);
int32_t __kmpc_barrier_master_nowait(void*, int32_t);
int32_t __kmpc_cancel_barrier(void*, int32_t);
int32_t __kmpc_cancel(void*, int32_t, int32_t);
int32_t __kmpc_cancellationpoint(void*, int32_t, int32_t);
void* __kmpc_copyprivate_light(void*, int32_t, void*);
int32_t __kmpc_reduce(void*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), void**);
void __kmpc_end_reduce(void*, int32_t, void**);
void* __kmpc_omp_task_alloc(void*, int32_t, int32_t, size_t, size_t, int32_t (*)(int32_t, void*));
int32_t __kmpc_omp_task(void*, int32_t, void*);
int32_t __kmpc_omp_task_parts(void*, int32_t, void*);
int32_t __kmpc_omp_task_with_deps(void*, int32_t, void*, int32_t, void*, int32_t, void*);
int32_t __kmpc_omp_taskwait(void*, int32_t);
int32_t __kmpc_omp_taskyield(void*, int32_t, int32_t);
void* __kmpc_task_reduction_get_th_data(int32_t, void*, void*);
}

// ------------------------------------------------------------------------------------------------- loops

enum { chunks = 33, blocks = 34, dynamic = 35, guided = 36, at_runtime = 37, automatic = 38, balanced = 45 };

// "lower..upper/stride", with a * for who has the last iteration, for each thread of four.
#define STATIC_INIT(name, suffix, T, S)                                                                  \
  static std::string name(int schedule, T from, T to, S step, S chunk) {                                 \
    std::string said[4], all;                                                                            \
    _Pragma("omp parallel num_threads(4)") {                                                             \
      int32_t last = -1;                                                                                 \
      T lower = from, upper = to;                                                                        \
      S stride = -77;                                                                                    \
      __kmpc_for_static_init_##suffix(nullptr, 0, schedule, &last, &lower, &upper, &stride, step, chunk); \
      __kmpc_for_static_fini(nullptr, 0);                                                                \
      said[omp_get_thread_num()] = std::to_string(lower) + ".." + std::to_string(upper) + "/" +          \
                                   std::to_string(stride) + (last ? "* " : " ");                         \
    }                                                                                                    \
    for (auto& each : said) all += each;                                                                 \
    return all;                                                                                          \
  }
STATIC_INIT(shares, 4, int32_t, int32_t)
STATIC_INIT(unsigned_shares, 4u, uint32_t, int32_t)
STATIC_INIT(long_shares, 8, int64_t, int64_t)
STATIC_INIT(unsigned_long_shares, 8u, uint64_t, int64_t)

static void static_loops() {
  // Ten iterations: 3, 3, 2 and 2. Who has none gets an upper bound before its lower one.
  SAME(shares(blocks, 0, 9, 1, 0), "0..2/10 3..5/10 6..7/10 8..9/10* ");
  SAME(shares(blocks, 5, 23, 2, 0), "5..9/20 11..15/20 17..19/20 21..23/20* ");
  SAME(shares(blocks, 9, 0, -1, 0), "9..7/-10 6..4/-10 3..2/-10 1..0/-10* ");
  SAME(shares(blocks, 0, 1, 1, 0), "0..0/2 1..1/2* 2..1/2 2..1/2 ");
  SAME(shares(blocks, 0, 0, 1, 0), "0..0/1* 1..0/1 1..0/1 1..0/1 ");
  SAME(shares(blocks, 0, 3, 1, 0), "0..0/4 1..1/4 2..2/4 3..3/4* ");
  SAME(shares(blocks, 1, 0, 1, 0), "1..0/1 1..0/1 1..0/1 1..0/1 ");
  SAME(shares(blocks, 0, 1, -1, 0), "0..1/-1 0..1/-1 0..1/-1 0..1/-1 ");
  SAME(shares(automatic, -4, 3, 1, 0), "-4..-3/8 -2..-1/8 0..1/8 2..3/8* ");
  // Chunks of two: ten iterations are five chunks, the last of which is the first thread's.
  SAME(shares(chunks, 0, 9, 1, 2), "0..1/8* 2..3/8 4..5/8 6..7/8 ");
  SAME(shares(chunks, 0, 10, 1, 2), "0..1/8 2..3/8* 4..5/8 6..7/8 ");
  SAME(shares(chunks, 0, 7, 1, 2), "0..1/8 2..3/8 4..5/8 6..7/8* ");
  SAME(shares(chunks, 20, 2, -3, 2), "20..17/-24 14..11/-24 8..5/-24 2..-1/-24* ");
  SAME(shares(chunks, 0, 5, 1, 0), "0..0/4 1..1/4* 2..2/4 3..3/4 ");
  SAME(shares(chunks, 0, 5, 1, 1), "0..0/4 1..1/4* 2..2/4 3..3/4 ");
  SAME(shares(balanced, 0, 9, 1, 2), "0..1/8* 2..3/8 4..5/8 6..7/8 ");
  // distribute: all of it is the only team's
  SAME(shares(91, 0, 9, 1, 2), "0..1/2* 0..1/2* 0..1/2* 0..1/2* ");
  SAME(shares(91, 0, 9, 1, 0), "0..9/10* 0..9/10* 0..9/10* 0..9/10* ");
  SAME(shares(92, 0, 9, 1, 0), "0..9/10* 0..9/10* 0..9/10* 0..9/10* ");
  // with modifiers, ordered, not merged, and both
  const char* in_chunks = "0..2/12* 3..5/12 6..8/12 9..11/12 ";
  for (int same_as : {int(chunks), chunks | 1 << 29, chunks | 1 << 30, 65, 161, 193})
    same(__LINE__, "a schedule in chunks", shares(same_as, 0, 12, 1, 3), in_chunks);
  const char* in_blocks = "0..3/13 4..6/13 7..9/13 10..12/13* ";
  for (int same_as : {int(blocks), blocks | 1 << 29, blocks | 1 << 30, 66, 162, 194})
    same(__LINE__, "a schedule in blocks", shares(same_as, 0, 12, 1, 3), in_blocks);
  // other kinds of numbers, up to their ends
  SAME(unsigned_shares(blocks, 4294967290u, 4294967295u, 1, 0),
       "4294967290..4294967291/6 4294967292..4294967293/6 4294967294..4294967294/6 4294967295..4294967295/6* ");
  SAME(unsigned_shares(blocks, 7, 0, -1, 0), "7..6/-8 5..4/-8 3..2/-8 1..0/-8* ");
  SAME(long_shares(blocks, -6000000000, 2000000000, 2000000000, 0),
       "-6000000000..-4000000000/10000000000 -2000000000..-2000000000/10000000000 0..0/10000000000 "
       "2000000000..2000000000/10000000000* ");
  SAME(long_shares(chunks, 0, 10000000000, 1, 3000000000),
       "0..2999999999/12000000000 3000000000..5999999999/12000000000 6000000000..8999999999/12000000000 "
       "9000000000..11999999999/12000000000* ");
  SAME(unsigned_long_shares(blocks, 1, 8, 1, 0), "1..2/8 3..4/8 5..6/8 7..8/8* ");
  SAME(unsigned_long_shares(chunks, 8, 1, -1, 1), "8..8/-4 7..7/-4 6..6/-4 5..5/-4* ");

  int32_t last = -1, lower = 3, upper = 11, whole = -1, stride = -1;
  __kmpc_dist_for_static_init_4(nullptr, 0, blocks, &last, &lower, &upper, &whole, &stride, 2, 0);
  CHECK(last == 1 && lower == 3 && upper == 11 && whole == 11 && stride == 10);
  __kmpc_for_static_init_4(nullptr, 0, blocks, nullptr, &lower, &upper, &stride, 1, 0);
  __kmpc_for_static_init_4(nullptr, 0, chunks, nullptr, &lower, &upper, &stride, 1, 4);
  CHECK(lower == 3 && upper == 6 && stride == 4);
  lower = 5, upper = 4, stride = -1, last = 1;
  __kmpc_for_static_init_4(nullptr, 0, blocks, nullptr, &lower, &upper, &stride, 7, 0), SAME(stride, 7);
  lower = 0, upper = 9, stride = -1, last = -1;
  __kmpc_team_static_init_4(nullptr, 0, &last, &lower, &upper, &stride, 3, 1);
  CHECK(last == 1 && lower == 0 && upper == 9 && stride == 12);
  __kmpc_team_static_init_4(nullptr, 0, nullptr, &lower, &upper, &stride, 1, 1), SAME(stride, 10);
}

// The chunks of one thread, "lower..upper " each, with a * for the last one.
#define DISPATCH(name, suffix, T, S)                                                                    \
  static std::string name(int schedule, T from, T to, S step, S chunk) {                                \
    std::string said;                                                                                   \
    int32_t last = -1;                                                                                  \
    T lower, upper;                                                                                     \
    S found = -77;                                                                                      \
    __kmpc_dispatch_init_##suffix(nullptr, 0, schedule, from, to, step, chunk);                         \
    while (__kmpc_dispatch_next_##suffix(nullptr, 0, &last, &lower, &upper, &found)) {                  \
      said += std::to_string(lower) + ".." + std::to_string(upper) + (last ? "* " : " ");               \
      if (found != step) said += "a step of " + std::to_string(found);                                  \
    }                                                                                                   \
    __kmpc_dispatch_deinit(nullptr, 0);                                                                 \
    if (__kmpc_dispatch_next_##suffix(nullptr, 0, nullptr, &lower, &upper, nullptr)) said += "and more"; \
    return said;                                                                                        \
  }
DISPATCH(pieces, 4, int32_t, int32_t)
DISPATCH(unsigned_pieces, 4u, uint32_t, int32_t)
DISPATCH(long_pieces, 8, int64_t, int64_t)
DISPATCH(unsigned_long_pieces, 8u, uint64_t, int64_t)

static void dynamic_loops() {
  SAME(pieces(dynamic, 0, 6, 1, 3), "0..2 3..5 6..6* ");
  SAME(pieces(dynamic, 0, 5, 1, 3), "0..2 3..5* ");
  SAME(pieces(dynamic, 0, 2, 1, 0), "0..0 1..1 2..2* ");
  SAME(pieces(dynamic, 10, 0, -4, 2), "10..6 2..2* ");
  SAME(pieces(dynamic, 1, 0, 1, 2), "");
  SAME(pieces(dynamic, 0, 5, 0, 2), "");
  SAME(pieces(dynamic, 5, 0, 0, 2), "");
  SAME(pieces(dynamic, 4, 4, 1, 2), "4..4* ");
  SAME(pieces(dynamic, 4, 4, -1, 2), "4..4* ");
  // half of what is left for each thread: of 20 there are 10, of 10 there are 5, of 5 there are 2 ...
  SAME(pieces(guided, 0, 19, 1, 1), "0..9 10..14 15..16 17..17 18..18 19..19* ");
  SAME(pieces(guided, 0, 19, 1, 3), "0..9 10..14 15..17 18..19* ");
  SAME(pieces(blocks, 0, 9, 1, 3), "0..9* ");
  SAME(pieces(automatic, 0, 9, 1, 3), "0..9* ");
  SAME(pieces(chunks, 0, 9, 1, 4), "0..3 4..7 8..9* ");
  SAME(pieces(chunks, 0, 7, 1, 4), "0..3 4..7* ");
  for (int same_as : {dynamic | 1 << 29, dynamic | 1 << 30, 67, 163, 195})
    same(__LINE__, "dynamic", pieces(same_as, 0, 6, 1, 3), "0..2 3..5 6..6* ");
  SAME(unsigned_pieces(dynamic, 4294967292u, 4294967295u, 1, 3), "4294967292..4294967294 4294967295..4294967295* ");
  SAME(unsigned_pieces(dynamic, 2, 0, -1, 2), "2..1 0..0* ");
  SAME(long_pieces(guided, -8000000000, 0, 2000000000, 2), "-8000000000..-6000000000 -4000000000..-2000000000 0..0* ");
  SAME(unsigned_long_pieces(dynamic, 18446744073709551613u, 18446744073709551615u, 1, 2),
       "18446744073709551613..18446744073709551614 18446744073709551615..18446744073709551615* ");
  // what a program has set
  const struct { omp_sched_t kind; int chunk; const char* said; } set[] = {
      {omp_sched_dynamic, 4, "0..3 4..7 8..9* "}, {omp_sched_guided, 2, "0..4 5..6 7..8 9..9* "},
      {omp_sched_static, 3, "0..2 3..5 6..8 9..9* "}, {omp_sched_static, 0, "0..9* "}, {omp_sched_auto, 0, "0..9* "},
  };
  for (auto& one : set) {
    omp_set_schedule(one.kind, one.chunk);
    same(__LINE__, "at run time", pieces(at_runtime, 0, 9, 1, 1), one.said);
  }
  // shares of three threads are fixed where the schedule is
  for (int schedule : {int(chunks), int(blocks)}) {
    std::string said[3];
#pragma omp parallel num_threads(3)
    said[omp_get_thread_num()] = pieces(schedule, 0, 10, 1, 2);
    const char* expected[2][3] = {{"0..1 6..7 ", "2..3 8..9 ", "4..5 10..10* "}, {"0..3 ", "4..7 ", "8..10* "}};
    for (int i = 0; i < 3; i++) same(__LINE__, "a share", said[i], expected[schedule - chunks][i]);
  }
  // each chunk of guided loops is what is left by twice the threads: 60 of 4 threads begin with 7
  std::string first;
#pragma omp parallel num_threads(4)
  {
    std::string mine = pieces(guided, 0, 59, 1, 1);
    if (mine.compare(0, 3, "0..") == 0) first = mine.substr(0, mine.find(' '));
  }
  SAME(first, "0..6");
}

// --------------------------------------------------------------------------------------------- regions

static std::atomic<int> seen_by_all;
static void all_arguments(int32_t* global, int32_t* number, ...) {
  va_list given;
  va_start(given, number);
  int wrong = *number != omp_get_thread_num() || *global != __kmpc_global_thread_num(nullptr);
  for (int i = 0; i < 64; i++) wrong += *va_arg(given, int*) != 3 * i;
  va_end(given);
  seen_by_all += wrong ? 1000 : 1;
}
static void one_argument(int32_t*, int32_t*, ...) { seen_by_all += 1; }
static void given_one(int32_t* global, int32_t* number, ...) {
  va_list given;
  va_start(given, number);
  seen_by_all += va_arg(given, int*) == reinterpret_cast<int*>(&failures) ? 1 : 1000;
  va_end(given);
  (void)global;
}
static int team_of_next_region() {
  int found = 0;
#pragma omp parallel
#pragma omp single
  found = omp_get_num_threads();
  return found;
}

static void regions() {
  omp_set_num_threads(4);
  static int values[64];
  for (int i = 0; i < 64; i++) values[i] = 3 * i;
#define EIGHT(n) values + n, values + n + 1, values + n + 2, values + n + 3, values + n + 4, values + n + 5, values + n + 6, values + n + 7
  seen_by_all = 0;
  __kmpc_fork_call(nullptr, 64, all_arguments, EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48),
                   EIGHT(56));
  SAME(seen_by_all, 4);
  seen_by_all = 0;
  __kmpc_fork_call_if(nullptr, 0, one_argument, 0, nullptr), SAME(seen_by_all, 1);
  __kmpc_fork_call_if(nullptr, 0, one_argument, 1, nullptr), SAME(seen_by_all, 5);
  seen_by_all = 0;
  __kmpc_fork_call_if(nullptr, 1, given_one, 1, &failures), SAME(seen_by_all, 4);
  // wishes are for the next region alone
  __kmpc_push_num_threads(nullptr, 0, 3), SAME(team_of_next_region(), 3), SAME(team_of_next_region(), 4);
  __kmpc_push_num_threads_strict(nullptr, 0, 2, 0, nullptr), SAME(team_of_next_region(), 2), SAME(team_of_next_region(), 4);
  __kmpc_push_num_threads(nullptr, 0, 3);
  __kmpc_fork_call_if(nullptr, 0, one_argument, 1, nullptr), SAME(seen_by_all, 7);
  __kmpc_push_num_teams(nullptr, 0, 5, 3), SAME(team_of_next_region(), 3);
  __kmpc_push_num_teams(nullptr, 0, 5, 0), SAME(team_of_next_region(), 4);
  __kmpc_push_num_teams_51(nullptr, 0, 5, 6, 3), SAME(team_of_next_region(), 3);
  __kmpc_push_num_teams_51(nullptr, 0, 5, 6, 0), SAME(team_of_next_region(), 4);
  __kmpc_push_num_teams(nullptr, 0, 5, 1), SAME(team_of_next_region(), 1);
  __kmpc_push_num_teams_51(nullptr, 0, 5, 6, 1), SAME(team_of_next_region(), 1);
  __kmpc_push_num_threads(nullptr, 0, 1), SAME(team_of_next_region(), 1);
  seen_by_all = 0;
  __kmpc_push_num_threads(nullptr, 0, 1);
  __kmpc_fork_call_if(nullptr, 0, one_argument, 1, nullptr), SAME(seen_by_all, 1);
  int inside = 0, level = -1;
#pragma omp parallel num_threads(3) if (inside)
  {
#pragma omp atomic
    inside += omp_get_num_threads();
    level = omp_get_level() * 10 + omp_get_active_level();
  }
  SAME(inside, 1), SAME(level, 10), SAME(team_of_next_region(), 4), SAME(omp_get_level(), 0);
  int limited = 0;
#pragma omp teams thread_limit(2)
  {
#pragma omp parallel
#pragma omp atomic
    limited++;
  }
  SAME(limited, 2);
  SAME(__kmpc_ok_to_fork(nullptr), 1), SAME(__kmpc_in_parallel(nullptr), 0), SAME(__kmpc_bound_num_threads(nullptr), 1);
  SAME(__kmpc_bound_thread_num(nullptr), 0);
  SAME(omp_get_ancestor_thread_num(0), 0), SAME(omp_get_ancestor_thread_num(1), -1), SAME(omp_get_team_size(0), 1);
  SAME(omp_get_ancestor_thread_num(-1), -1), SAME(omp_get_team_size(-1), -1), SAME(omp_get_team_size(1), -1);

  omp_set_schedule(omp_sched_guided, 9);
  int masters = 0, masked = 0, wrong = 0, alone = 0, after = 0, numbers = 0, waited = 0;
  double sum = 0;
  std::vector<int> order;
#pragma omp parallel num_threads(3)
  {
    int me = omp_get_thread_num(), bad = 0, chunk = 0, value = 10 + me;
    omp_sched_t kind;
    omp_get_schedule(&kind, &chunk);
    bad += kind != omp_sched_guided || chunk != 9 || omp_get_max_threads() != 4 || omp_get_num_threads() != 3;
    bad += !omp_in_parallel() || !__kmpc_in_parallel(nullptr) || __kmpc_bound_num_threads(nullptr) != 3;
    bad += __kmpc_bound_thread_num(nullptr) != me || omp_get_level() != 1 || omp_get_active_level() != 1;
    bad += omp_get_ancestor_thread_num(1) != me || omp_get_ancestor_thread_num(0) != 0 || omp_get_ancestor_thread_num(2) != -1;
    bad += omp_get_team_size(0) != 1 || omp_get_team_size(1) != 3 || omp_get_team_size(2) != -1;
    bad += __kmpc_cancel(nullptr, 0, 1) || __kmpc_cancellationpoint(nullptr, 0, 1) || __kmpc_cancel_barrier(nullptr, 0);
#pragma omp atomic
    masters += __kmpc_master(nullptr, 0) ? 10 + me : 0;
#pragma omp atomic
    masked += __kmpc_masked(nullptr, 0, 2) ? 10 + me : 0;
#pragma omp parallel num_threads(2)
    {
      bad += omp_get_num_threads() != 1 || omp_get_level() != 2 || omp_get_active_level() != 1 || omp_get_thread_num() != 0;
      bad += omp_get_ancestor_thread_num(1) != me || omp_get_team_size(1) != 3 || omp_get_team_size(2) != 1;
      bad += omp_get_ancestor_thread_num(2) != 0 || omp_get_ancestor_thread_num(3) != -1;
    }
    bad += omp_get_level() != 1 || omp_get_thread_num() != me;
    // thread 0 goes on when all have come, and the others when it says so
    if (me == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp atomic
    after++;
    if (int first = __kmpc_barrier_master(nullptr, 0)) {
      bad += first != 1;
      if (after != 3 || me != 0) bad++;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      alone++;
      __kmpc_end_barrier_master(nullptr, 0);
    }
    bad += alone != 1;
    if (me == 2) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp atomic
    waited++;
    bad += __kmpc_barrier_master_nowait(nullptr, 0) != (me == 0) || waited != 3;
    // the value of the thread that has one reaches all
    int* copied = static_cast<int*>(__kmpc_copyprivate_light(nullptr, 0, me == 1 ? &value : nullptr));
    bad += *copied != 11;
#pragma omp barrier
    // parts of a sum come in the order of the threads, the last thread first here
    std::this_thread::sleep_for(std::chrono::milliseconds(10 * (2 - me)));
    bad += __kmpc_reduce(nullptr, 0, 1, sizeof sum, &sum, nullptr, nullptr) != 1;
    order.push_back(me);
    sum += me;
    __kmpc_end_reduce(nullptr, 0, nullptr);
    bad += sum != 3;
    numbers |= 1 << me;
#pragma omp atomic
    wrong += bad;
  }
  SAME(masters, 10), SAME(masked, 12), SAME(wrong, 0), SAME(alone, 1), SAME(sum, 3);
  CHECK(order == std::vector<int>{0, 1, 2});
  CHECK(__kmpc_global_num_threads(nullptr) >= 4 && __kmpc_global_num_threads(nullptr) < 100);

  // the threads that worked for a thread end with it
  auto threads_now = [] {
    int count = 0;
    DIR* folder = opendir("/proc/self/task");
    while (dirent* entry = readdir(folder)) count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
  };
  int before = threads_now(), most = 0;
  std::thread([&] {
#pragma omp parallel num_threads(6)
#pragma omp single
    most = threads_now();
  }).join();
  SAME(most, before + 6);
  for (int i = 0; i < 500 && threads_now() > before; i++) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  SAME(threads_now(), before);
}

// A region in which threads stay away for a while: what comes behind it finds all done.
static void late_threads() {
  for (int round = 0; round < 3; round++) {
    int done[4] = {}, singles[3] = {}, value[4] = {};
#pragma omp parallel num_threads(4) shared(done, singles, value)
    {
      int me = omp_get_thread_num(), mine = 0;
      for (int& each : singles) {
#pragma omp single nowait
        each++;
      }
      if (me == round) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp single copyprivate(mine)
      mine = 40 + round;
      value[me] = mine;
      if (me == 3 - round) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done[me] = 1;
    }
    for (int i = 0; i < 4; i++) SAME(done[i], 1), SAME(value[i], 40 + round);
    for (int each : singles) SAME(each, 1);
  }
  int arrived = 0, seen = 0;
#pragma omp parallel num_threads(2) shared(arrived, seen)
  {
    if (omp_get_thread_num() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20)), arrived = 1;
#pragma omp barrier
    if (omp_get_thread_num() == 1) seen = arrived && omp_in_parallel() && omp_get_active_level() == 1 ? 1 : 0;
    else if (!omp_in_parallel() || omp_get_active_level() != 1) arrived = 7;
  }
  SAME(seen, 1), SAME(arrived, 1);
  // ordered parts of chunks, of which some have none
  for (int schedule : {0, 1}) {
    omp_set_schedule(schedule ? omp_sched_static : omp_sched_dynamic, 2);
    std::vector<int> order;
#pragma omp parallel for ordered schedule(runtime) num_threads(4)
    for (int i = 30; i > 0; i -= 3) {
      if (i == 30) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (i % 4 == 0) continue;
#pragma omp ordered
      order.push_back(i);
    }
    CHECK(order == std::vector<int>{30, 27, 21, 18, 15, 9, 6, 3});
  }
  // iterations that wait for the ones after them, downwards, with steps, and in two dimensions
  int chain[20] = {}, table[6][8] = {};
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(4)
  for (int i = 18; i >= 4; i -= 2) {
    if (i == 18) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp ordered depend(sink : i + 2)
    chain[i] = i == 18 ? 1 : chain[i + 2] + 1;
#pragma omp ordered depend(source)
  }
  SAME(chain[4], 8), SAME(chain[16], 2), SAME(chain[2], 0);
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(4)
  for (int i = 5; i >= 1; i -= 2)
    for (int j = 1; j < 8; j += 3) {
      if (i == 5 && j == 4) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp ordered depend(sink : i + 2, j) depend(sink : i, j - 3) depend(sink : i + 2, j + 3)
      table[i][j] = (i < 5 ? table[i + 2][j] : 1) + (j > 1 ? table[i][j - 3] : 0) + (i < 5 && j < 7 ? table[i + 2][j + 3] : 0);
#pragma omp ordered depend(source)
    }
  // rows 5, 3, 1: 1 2 3, 3 8 11, 11 30 41
  // what is beyond a row's end is not waited for, though the next row begins there
  int beyond = 0;
#pragma omp parallel for ordered(2) schedule(static, 1) num_threads(3) reduction(+ : beyond)
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
#pragma omp ordered depend(sink : i - 1, j + 3)
      beyond++;
#pragma omp ordered depend(source)
    }
  SAME(beyond, 9);
  SAME(table[5][7], 3), SAME(table[3][1], 3), SAME(table[3][7], 11), SAME(table[1][4], 30), SAME(table[1][7], 41);
}

// ----------------------------------------------------------------------------------- tasks, locks, questions

static int destroyed = 0;
struct Held {
  int value = 5;
  Held() = default;
  Held(const Held& other) : value(other.value) {}
  ~Held() { destroyed++; }
};
static int32_t routine(int32_t thread, void* task) {
  struct Task { void* shared; void* routine; int32_t part; void* destructors; char data[40]; };
  Task* given = static_cast<Task*>(task);
  seen_by_all = thread == 7 && given->data[39] == 0 && (reinterpret_cast<uintptr_t>(given->shared) & 15) == 0 ? 1 : 2;
  std::memset(given->data, 1, 40);
  std::memset(given->shared, 1, 24);
  return 0;
}

static void tasks_and_locks() {
  {
    Held held;
    destroyed = 0;
    int found = 0;
#pragma omp task firstprivate(held) shared(found)
    found = held.value;
    SAME(found, 5), SAME(destroyed, 1);
#pragma omp task firstprivate(held) shared(found) if (0)
    found += held.value;
    SAME(found, 10), SAME(destroyed, 2);
  }
  void* task = __kmpc_omp_task_alloc(nullptr, 0, 1, 72, 24, routine);
  SAME(__kmpc_omp_task_parts(nullptr, 7, task), 0), SAME(seen_by_all, 1);
  task = __kmpc_omp_task_alloc(nullptr, 0, 1, 72, 0, routine);
  CHECK(*static_cast<void**>(task) == nullptr);
  auto new_task = [] { return seen_by_all = 0, __kmpc_omp_task_alloc(nullptr, 0, 1, 72, 24, routine); };
  SAME(__kmpc_omp_task(nullptr, 7, new_task()), 0), SAME(seen_by_all, 1);
  SAME(__kmpc_omp_task_with_deps(nullptr, 7, new_task(), 0, nullptr, 0, nullptr), 0), SAME(seen_by_all, 1);
  SAME(__kmpc_omp_taskwait(nullptr, 0), 0), SAME(__kmpc_omp_taskyield(nullptr, 0, 0), 0);
  SAME(*static_cast<int*>(__kmpc_task_reduction_get_th_data(0, nullptr, &destroyed)), destroyed);
  long total = 0;
  int last = -1;
#pragma omp taskloop shared(total) lastprivate(last)
  for (int i = 3; i < 30; i += 4) total += i, last = i;
  SAME(total, 3 + 7 + 11 + 15 + 19 + 23 + 27), SAME(last, 27);

  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock_with_hint(&lock, omp_sync_hint_none);
  omp_init_nest_lock_with_hint(&nest, omp_sync_hint_none);
  auto elsewhere = [](auto ask) {
    int found = -1;
    std::thread([&] { found = ask(); }).join();
    return found;
  };
  SAME(omp_test_lock(&lock), 1), SAME(elsewhere([&] { return omp_test_lock(&lock); }), 0);
  omp_unset_lock(&lock), omp_set_lock(&lock), SAME(omp_test_lock(&lock), 0);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock), omp_destroy_lock(&lock), omp_init_lock(&lock), SAME(omp_test_lock(&lock), 1);
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  auto nested = [&] { return omp_test_nest_lock(&nest); };
  auto nested_and_given_back = [&] {
    int depth = omp_test_nest_lock(&nest);
    if (depth) omp_unset_nest_lock(&nest);
    return depth;
  };
  SAME(nested(), 1), SAME(nested(), 2), SAME(elsewhere(nested), 0), omp_set_nest_lock(&nest), SAME(nested(), 4);
  for (int i = 0; i < 3; i++) omp_unset_nest_lock(&nest), SAME(elsewhere(nested), 0);
  omp_unset_nest_lock(&nest), SAME(elsewhere(nested_and_given_back), 1), SAME(nested(), 1);
  omp_unset_nest_lock(&nest);
  int within = 0, most = 0;
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 5; i++) {
    omp_set_nest_lock(&nest);
    if (++within > most) most = within;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    within--;
    omp_unset_nest_lock(&nest);
  }
  SAME(most, 1), SAME(within, 0);
  omp_destroy_nest_lock(&nest);

  static int in_a_critical_part, together;
#pragma omp parallel num_threads(3)
  for (int i = 0; i < 5; i++) {
#pragma omp critical(with_hint) hint(omp_sync_hint_contended)
    {
      if (++in_a_critical_part > 1) together++;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      in_a_critical_part--;
    }
  }
  SAME(together, 0);
}

// Kilobytes that the program has in memory.
static long resident() {
  long whole = 0, found = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  CHECK(std::fscanf(file, "%ld %ld", &whole, &found) == 2);
  std::fclose(file);
  return found * (sysconf(_SC_PAGESIZE) >> 10);
}

// What was taken for loops, tasks, regions and locks is given back.
static void memory() {
  const auto use = [](int times) {
    for (int i = 0; i < times; i++) {
      int32_t last, lower, upper, step;
      __kmpc_dispatch_init_4(nullptr, 0, dynamic, 0, 0, 1, 1);
      while (__kmpc_dispatch_next_4(nullptr, 0, &last, &lower, &upper, &step)) {}
      __kmpc_omp_task(nullptr, 7, __kmpc_omp_task_alloc(nullptr, 0, 1, 72, 24, routine));
      omp_lock_t lock;
      omp_init_lock(&lock), omp_set_lock(&lock), omp_unset_lock(&lock), omp_destroy_lock(&lock);
#pragma omp task if (0)
      seen_by_all = 0;
#pragma omp parallel if (0)
      seen_by_all = 1;
#pragma omp for ordered(1)
      for (int j = 0; j < 2; j++) {
#pragma omp ordered depend(source)
      }
    }
  };
  use(100);
  long before = resident();
  use(60000);
  CHECK(resident() - before < 1024);
}

static void questions() {
  omp_set_num_threads(4), omp_set_num_threads(0), omp_set_num_threads(-1), SAME(omp_get_max_threads(), 4);
  omp_set_num_threads(1), SAME(omp_get_max_threads(), 1), SAME(team_of_next_region(), 1);
  omp_set_num_threads(4);
  omp_set_dynamic(1), SAME(omp_get_dynamic(), 0);
  SAME(omp_get_nested(), 0), omp_set_nested(5), SAME(omp_get_nested(), 1), omp_set_nested(0), SAME(omp_get_nested(), 0);
  omp_sched_t kind;
  int chunk;
  omp_set_schedule(static_cast<omp_sched_t>(omp_sched_dynamic | 0x80000000u), 1), omp_get_schedule(&kind, &chunk);
  SAME(kind, omp_sched_dynamic), SAME(chunk, 1);
  omp_set_schedule(omp_sched_static, -2), omp_get_schedule(&kind, &chunk), SAME(kind, omp_sched_static), SAME(chunk, 0);
  SAME(omp_get_cancellation(), 0), SAME(omp_get_thread_limit(), 65536), SAME(omp_get_teams_thread_limit(), 65536);
  omp_set_max_active_levels(3), SAME(omp_get_max_active_levels(), 1), SAME(omp_get_supported_active_levels(), 1);
  SAME(omp_in_final(), 0), SAME(omp_get_proc_bind(), 0), SAME(omp_get_num_places(), 0), SAME(omp_get_place_num_procs(0), 0);
  SAME(omp_get_place_num(), -1), omp_set_default_device(0), SAME(omp_get_default_device(), 0), SAME(omp_get_num_devices(), 0);
  SAME(omp_get_device_num(), 0), SAME(omp_get_initial_device(), 0), SAME(omp_is_initial_device(), 1);
  SAME(omp_get_num_teams(), 1), SAME(omp_get_team_num(), 0), SAME(omp_get_max_teams(), 1), SAME(omp_get_max_task_priority(), 0);
  SAME(omp_pause_resource(omp_pause_soft, 0), 0), SAME(omp_pause_resource_all(omp_pause_soft), 0);
  SAME(omp_get_num_procs(), (long)std::thread::hardware_concurrency());
  double begun = omp_get_wtime();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  double slept = omp_get_wtime() - begun;
  CHECK(slept >= 0.02 && slept < 20 && omp_get_wtick() == 1e-9);
  char* bytes = static_cast<char*>(omp_calloc(30, 4, omp_null_allocator));
  for (int i = 0; i < 120; i++) SAME(bytes[i], 0);
  omp_free(bytes, omp_null_allocator);
  bytes = static_cast<char*>(omp_alloc(100, omp_null_allocator)), CHECK(bytes != nullptr);
  std::memset(bytes, 1, 100);
  omp_free(bytes, omp_null_allocator);
  for (size_t alignment : {1, 8, 64, 4096}) {
    bytes = static_cast<char*>(omp_aligned_alloc(alignment, 100, omp_null_allocator));
    CHECK(bytes && reinterpret_cast<uintptr_t>(bytes) % alignment == 0);
    std::memset(bytes, 1, 100);
    omp_free(bytes, omp_null_allocator);
  }
  CHECK(omp_aligned_alloc(24, 100, omp_null_allocator) == nullptr);  // no power of two
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "settings") {
    omp_sched_t kind;
    int chunk;
    omp_get_schedule(&kind, &chunk);
    int team = team_of_next_region();
    std::printf("%d %d %d%s\n", omp_get_max_threads(), (int)kind, chunk, team == omp_get_max_threads() ? "" : ", another team");
    return 0;
  }
  if (mode == "stack") {
    size_t bytes = 0;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) {
      pthread_attr_t attributes;
      pthread_getattr_np(pthread_self(), &attributes);
      pthread_attr_getstacksize(&attributes, &bytes);
      pthread_attr_destroy(&attributes);
    }
    std::printf("%zu\n", bytes >> 10);
    return 0;
  }
  if (mode == "environment") {
    omp_display_env(0);
    return 0;
  }
  if (mode == "many") __kmpc_fork_call(nullptr, 65, all_arguments, nullptr);
  omp_set_num_threads(4);
  SAME(__kmpc_global_thread_num(nullptr), 0), SAME(__kmpc_global_num_threads(nullptr), 1);
  SAME(team_of_next_region(), 4), SAME(__kmpc_global_num_threads(nullptr), 4);
  static_loops();
  dynamic_loops();
  regions();
  late_threads();
  tasks_and_locks();
  memory();
  questions();
  std::printf("%d failures\n", failures);
  return failures != 0;
}
