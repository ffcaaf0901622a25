// OpenMP's runtime library for the host part of programs: what Clang calls for -fopenmp (the __kmpc_ functions of LLVM's
// OpenMP interface) and the functions of omp.h, on POSIX threads.
//
// What is different from larger runtimes, all of it within OpenMP's rules:
//   - nested parallel regions run with one thread each;
//   - a task runs at once, in the thread that creates it, so dependences hold by themselves;
//   - threads combine their parts of a reduction in the order of their numbers, so that floating-point sums are the same
//     in each run if the loop's schedule is static;
//   - one team (teams), no devices (target regions are refused by the compiler), cancellation is off.
//
// Sources: the OpenMP specification 5.2, and "LLVM/OpenMP" (openmp.llvm.org) for the entry points and their arguments.
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>

#define API extern "C" __attribute__((visibility("default"), used))

namespace {

typedef void (*Outlined)(int32_t*, int32_t*, ...);
enum { most_arguments = 64 };
enum Kind { static_kind = 1, dynamic_kind = 2, guided_kind = 3 };  // as omp_sched_t

struct Mutex {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  void lock() { pthread_mutex_lock(&mutex); }
  void unlock() { pthread_mutex_unlock(&mutex); }
};
struct Guard {
  Mutex& mutex;
  explicit Guard(Mutex& m) : mutex(m) { mutex.lock(); }
  ~Guard() { mutex.unlock(); }
};

// One worksharing loop of a team, from the first thread that begins it until all have ended it. Iterations are counted
// from 0, whatever the loop's bounds.
struct Loop {
  uint64_t number{}, trips{}, next{}, chunk{}, ordered{};
  int64_t lower{}, step{};
  int kind{};
  bool blocks = false;  // static without a chunk size: one block for each thread
  int ended{};
  uint8_t* done = nullptr;  // of iterations, for dependences between them (doacross)
  int rank{};
  Loop* following = nullptr;
};

struct Team {
  int threads = 1;
  Mutex mutex;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  int arrived{};
  uint64_t barriers{}, reduced{}, singles{};
  Loop* loops = nullptr;
  void* copied = nullptr;
  Outlined function = nullptr;
  void* arguments[most_arguments];
};

struct Pool;

// What a thread knows of the parallel region that it is in; regions inside others stand in a list.
struct Region {
  Team* team;
  int number;  // of the thread
  int level, active_level;
  uint64_t loops{}, singles{}, reductions{};
  Loop* loop = nullptr;  // the one that it works on
  uint64_t first{}, taken{};  // of its current chunk; chunks that it had
  bool bumped = false;
  Region* outer = nullptr;
};

struct Settings {
  int threads, kind, chunk, nested;
};

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

Settings from_environment() {
  Settings found = {processors(), static_kind, 0, 0};
  for (const char* name : {"GPULAB_CORES", "OMP_NUM_THREADS"})
    if (const char* text = getenv(name)) {
      int value = atoi(text);
      if (value > 0) found.threads = strcmp(name, "OMP_NUM_THREADS") == 0 ? value : std::min(value, found.threads);
    }
  if (const char* limit = getenv("OMP_THREAD_LIMIT"))
    if (atoi(limit) > 0) found.threads = std::min(atoi(limit), found.threads);
  if (const char* text = getenv("OMP_SCHEDULE")) {
    const char* colon = strchr(text, ':');
    const char* name = colon ? colon + 1 : text;
    if (strncmp(name, "dynamic", 7) == 0) found.kind = dynamic_kind;
    if (strncmp(name, "guided", 6) == 0) found.kind = guided_kind;
    if (const char* comma = strchr(name, ',')) found.chunk = atoi(comma + 1);
  }
  return found;
}

Settings defaults() {
  static const Settings found = from_environment();
  return found;
}

struct Thread {
  Region* region = nullptr;
  Pool* pool = nullptr;
  Settings settings = defaults();
  int wanted{};  // threads of the next region (num_threads)
  int global{};
};

int global_numbers;

Thread* self() {
  static thread_local Thread mine;
  static thread_local bool known = false;
  if (!known) {
    known = true;
    mine.global = __atomic_fetch_add(&global_numbers, 1, __ATOMIC_RELAXED);
  }
  return &mine;
}

Team* alone() {  // the team of a thread outside all parallel regions, and of regions with one thread
  static thread_local Team team;
  return &team;
}

Region* region() {
  Thread* me = self();
  if (!me->region) {
    static thread_local Region initial;
    initial = Region{alone(), 0, 0, 0};
    me->region = &initial;
  }
  return me->region;
}

// ---------------------------------------------------------------------------------------------- threads

// The threads that work for one thread of the program; they wait between regions.
struct Pool {
  Mutex mutex;
  pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
  int size{};  // threads that were started
  uint64_t regions{};
  Team* team = nullptr;
  int threads{};  // of the team: a thread that is not in it may look when it is gone
  bool ends = false;
  int left{};
  int level{};
  Settings settings;  // of the thread that it works for
};

struct Start {
  Pool* pool;
  int number;
  uint64_t seen;
};

void call(Team* team, int32_t global, int32_t number) {
  void** a = team->arguments;
#define FOUR(n) a[n], a[n + 1], a[n + 2], a[n + 3]
  // A function takes the arguments that it knows of; the others are in no one's way.
  team->function(&global, &number, FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28), FOUR(32),
                 FOUR(36), FOUR(40), FOUR(44), FOUR(48), FOUR(52), FOUR(56), FOUR(60));
#undef FOUR
}

void barrier(Team* team) {
  if (team->threads == 1) return;
  Guard held(team->mutex);
  uint64_t mine = team->barriers;
  if (++team->arrived == team->threads) {
    team->arrived = 0;
    team->barriers++;
    pthread_cond_broadcast(&team->changed);
    return;
  }
  while (team->barriers == mine) pthread_cond_wait(&team->changed, &team->mutex.mutex);
}

void enter(Team* team, int number, int level, int active) {
  Thread* me = self();
  Region* outer = region();
  Region inner = {team, number, level, active};
  inner.outer = outer;
  me->region = &inner;
  call(team, me->global, number);
  barrier(team);
  me->region = outer;
}

void* work(void* given) {
  Start start = *static_cast<Start*>(given);
  free(given);
  Pool* pool = start.pool;
  uint64_t seen = start.seen;
  Thread* me = self();
  for (;;) {
    pool->mutex.lock();
    while (pool->regions == seen && !pool->ends) pthread_cond_wait(&pool->begun, &pool->mutex.mutex);
    if (pool->ends) {
      bool last = --pool->left == 0;
      pool->mutex.unlock();
      if (last) delete pool;
      return nullptr;
    }
    seen = pool->regions;
    Team* team = pool->team;
    int level = pool->level, threads = pool->threads;
    me->settings = pool->settings;
    pool->mutex.unlock();
    if (start.number < threads) {
      enter(team, start.number, level, 1);
      __atomic_sub_fetch(&pool->left, 1, __ATOMIC_RELEASE);
    }
  }
}

pthread_key_t pool_key;
pthread_once_t pool_once = PTHREAD_ONCE_INIT;

void end_pool(void* given) {  // the thread that it works for has ended
  Pool* pool = static_cast<Pool*>(given);
  pool->mutex.lock();
  pool->ends = true;
  pool->left = pool->size;
  bool empty = pool->size == 0;
  pthread_cond_broadcast(&pool->begun);
  pool->mutex.unlock();
  if (empty) delete pool;
}

void make_key() { pthread_key_create(&pool_key, end_pool); }

size_t stack_bytes() {
  const char* text = getenv("OMP_STACKSIZE");
  if (!text) return 0;
  char* end;
  double value = strtod(text, &end);
  while (*end == ' ') end++;
  double unit = *end == 'B' || *end == 'b' ? 1 : *end == 'M' || *end == 'm' ? 1 << 20 : *end == 'G' || *end == 'g' ? 1 << 30 : 1 << 10;
  return static_cast<size_t>(value * unit);
}

// As many threads as can be had; the number of those there are, with the caller.
int prepare(Thread* me, int threads) {
  if (!me->pool) {
    pthread_once(&pool_once, make_key);
    me->pool = new Pool;
    pthread_setspecific(pool_key, me->pool);
  }
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (size_t bytes = stack_bytes()) pthread_attr_setstacksize(&attributes, bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  while (me->pool->size + 1 < threads) {
    Start* start = static_cast<Start*>(malloc(sizeof(Start)));
    pthread_t made;
    if (!start) break;
    *start = Start{me->pool, me->pool->size + 1, me->pool->regions};
    if (pthread_create(&made, &attributes, work, start) != 0) {
      free(start);
      break;
    }
    me->pool->size++;
  }
  pthread_attr_destroy(&attributes);
  return std::min(me->pool->size + 1, threads);
}

void run(Team* team, int threads) {
  Thread* me = self();
  Region* outer = region();
  me->wanted = 0;
  if (threads > 1 && outer->active_level == 0) threads = prepare(me, threads);
  else threads = 1;
  team->threads = threads;
  if (threads > 1) {
    Pool* pool = me->pool;
    Guard held(pool->mutex);
    pool->team = team;
    pool->threads = threads;
    pool->settings = me->settings;
    pool->level = outer->level + 1;
    pool->left = threads - 1;
    pool->regions++;
    pthread_cond_broadcast(&pool->begun);
  }
  enter(team, 0, outer->level + 1, outer->active_level + (threads > 1));
  // The team is in this thread's frame: all have to be out of it.
  while (threads > 1 && __atomic_load_n(&me->pool->left, __ATOMIC_ACQUIRE) > 0) sched_yield();
}

// ------------------------------------------------------------------------------------------------ loops

Loop* find(Region* here, bool& fresh) {  // with the team's mutex held: the loop that this thread comes to next
  Team* team = here->team;
  for (Loop* each = team->loops; each; each = each->following)
    if (each->number == here->loops) {
      fresh = false;
      return each;
    }
  Loop* made = new Loop;
  made->number = here->loops;
  made->following = team->loops;
  team->loops = made;
  fresh = true;
  return made;
}

void leave(Region* here) {
  Loop* loop = here->loop;
  if (!loop) return;
  here->loop = nullptr;
  Team* team = here->team;
  Guard held(team->mutex);
  if (++loop->ended < team->threads) return;
  for (Loop** at = &team->loops; *at; at = &(*at)->following)
    if (*at == loop) {
      *at = loop->following;
      break;
    }
  free(loop->done);
  delete loop;
}

template <typename T>
uint64_t trips(T lower, T upper, int64_t step) {
  if (step > 0) return lower > upper ? 0 : (static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower)) / step + 1;
  if (step < 0) return lower < upper ? 0 : (static_cast<uint64_t>(lower) - static_cast<uint64_t>(upper)) / -static_cast<uint64_t>(step) + 1;
  return 0;
}

int base_schedule(int32_t schedule) {  // without modifiers; of ordered loops and of those that are not merged the plain one
  int plain = schedule & ~((1 << 29) | (1 << 30));
  if (plain >= 160) plain -= 128;
  if (plain >= 64 && plain < 91) plain -= 32;
  return plain;
}

template <typename T>
void static_init(int32_t schedule, int32_t* last, T* lower, T* upper, int64_t* stride, int64_t step, int64_t chunk, int number,
                 int threads) {
  int kind = base_schedule(schedule);
  if (kind == 91 || kind == 92) number = 0, threads = 1;  // distribute: there is one team
  uint64_t count = trips(*lower, *upper, step);
  if (last) *last = 0;
  if (count == 0) {
    *stride = step;
    return;
  }
  T first = *lower;
  if (kind == 33 || kind == 45 || (kind == 91 && chunk > 0)) {
    if (chunk < 1) chunk = 1;
    *stride = step * chunk * threads;
    *lower = static_cast<T>(first + static_cast<T>(step * chunk) * static_cast<T>(number));
    *upper = static_cast<T>(*lower + static_cast<T>(step * (chunk - 1)));
    if (last) *last = static_cast<uint64_t>(number) == (count - 1) / chunk % threads;
    return;
  }
  uint64_t small = count / threads, more = count % threads, mine = static_cast<uint64_t>(number);
  uint64_t begin = mine * small + std::min(mine, more), size = small + (mine < more);
  *stride = static_cast<int64_t>(count) * step;
  if (last) *last = size > 0 && begin + size == count;
  *lower = static_cast<T>(first + static_cast<T>(begin) * static_cast<T>(step));
  *upper = static_cast<T>(*lower + static_cast<T>(size) * static_cast<T>(step) - static_cast<T>(step));
}

template <typename T>
void dispatch_init(int32_t schedule, T lower, T upper, int64_t step, int64_t chunk) {
  Region* here = region();
  Team* team = here->team;
  int kind = base_schedule(schedule);
  if (kind == 37) {  // runtime
    Settings set = self()->settings;
    kind = set.kind == dynamic_kind ? 35 : set.kind == guided_kind ? 36 : set.chunk > 0 ? 33 : 34;
    chunk = set.chunk;
  }
  Guard held(team->mutex);
  bool fresh;
  Loop* loop = find(here, fresh);
  if (fresh) {
    loop->trips = trips(lower, upper, step);
    loop->lower = static_cast<int64_t>(lower);
    loop->step = step;
    loop->kind = kind == 35 ? dynamic_kind : kind == 36 ? guided_kind : static_kind;
    loop->blocks = kind == 34 || kind == 38;
    loop->chunk = chunk > 0 ? static_cast<uint64_t>(chunk) : 1;
  }
  here->loops++;
  here->loop = loop;
  here->taken = 0;
}

// The next chunk of the thread: its first iteration and how many; false if there is none.
bool take(Region* here, uint64_t& first, uint64_t& count) {
  Loop* loop = here->loop;
  uint64_t threads = static_cast<uint64_t>(here->team->threads), mine = static_cast<uint64_t>(here->number);
  if (loop->kind == static_kind) {
    if (loop->blocks) {
      uint64_t small = loop->trips / threads, more = loop->trips % threads;
      first = mine * small + std::min(mine, more);
      count = here->taken++ == 0 ? small + (mine < more) : 0;
      return count > 0;
    }
    first = (mine + here->taken++ * threads) * loop->chunk;
    if (first >= loop->trips) return false;
    count = std::min(loop->trips - first, loop->chunk);
    return true;
  }
  uint64_t at = __atomic_load_n(&loop->next, __ATOMIC_RELAXED);
  do {
    if (at >= loop->trips) return false;
    uint64_t left = loop->trips - at;
    count = loop->chunk;
    if (loop->kind == guided_kind) count = std::max(count, left / (2 * threads));
    count = std::min(count, left);
  } while (!__atomic_compare_exchange_n(&loop->next, &at, at + count, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  first = at;
  return true;
}

template <typename T, typename S>
int32_t dispatch_next(int32_t* last, T* lower, T* upper, S* step) {
  Region* here = region();
  Loop* loop = here->loop;
  if (!loop) return 0;
  uint64_t first, count;
  if (!take(here, first, count)) {
    leave(here);
    return 0;
  }
  here->first = first;
  if (last) *last = first + count == loop->trips;
  *lower = static_cast<T>(static_cast<uint64_t>(loop->lower) + first * static_cast<uint64_t>(loop->step));
  *upper = static_cast<T>(static_cast<uint64_t>(*lower) + (count - 1) * static_cast<uint64_t>(loop->step));
  if (step) *step = static_cast<S>(loop->step);
  return 1;
}

void wait_for_turn(Region* here) {
  Team* team = here->team;
  Guard held(team->mutex);
  while (here->loop->ordered < here->first) pthread_cond_wait(&team->changed, &team->mutex.mutex);
}

void next_turn(Region* here) {
  Team* team = here->team;
  Guard held(team->mutex);
  here->loop->ordered++;
  pthread_cond_broadcast(&team->changed);
}

void dispatch_fini() {  // an iteration of a loop with an ordered part has ended
  Region* here = region();
  if (!here->loop) return;
  if (!here->bumped) {
    wait_for_turn(here);
    next_turn(here);
  }
  here->bumped = false;
}

Mutex* critical_mutex(void** name) {
  void* found = __atomic_load_n(name, __ATOMIC_ACQUIRE);
  if (found) return static_cast<Mutex*>(found);
  Mutex* made = new Mutex;
  if (__atomic_compare_exchange_n(name, &found, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
  delete made;
  return static_cast<Mutex*>(found);
}

// Wait until the threads with smaller numbers have done their part of the reduction.
void reduction_turn() {
  Region* here = region();
  Team* team = here->team;
  uint64_t turn = here->reductions++ * static_cast<uint64_t>(team->threads) + static_cast<uint64_t>(here->number);
  Guard held(team->mutex);
  while (team->reduced != turn) pthread_cond_wait(&team->changed, &team->mutex.mutex);
}

void reduction_done() {
  Team* team = region()->team;
  Guard held(team->mutex);
  team->reduced++;
  pthread_cond_broadcast(&team->changed);
}

struct Task {  // what the compiler knows of one; its private variables stand behind it
  void* shared;
  int32_t (*routine)(int32_t, Task*);
  int32_t part;
  int32_t (*destructors)(int32_t, Task*);
};
struct Header {  // before a task
  int32_t flags;
  int32_t unused[3];
};

void run_task(int32_t thread, Task* task) {
  task->routine(thread, task);
  Header* header = reinterpret_cast<Header*>(task) - 1;
  if (header->flags & 8) task->destructors(thread, task);
  free(header);
}

int default_threads() { return self()->settings.threads; }

}  // namespace

// ------------------------------------------------------------------------------- what Clang calls, by LLVM's names

API int32_t __kmpc_global_thread_num(void*) { return self()->global; }
API int32_t __kmpc_bound_thread_num(void*) { return region()->number; }
API int32_t __kmpc_global_num_threads(void*) { return __atomic_load_n(&global_numbers, __ATOMIC_RELAXED); }
API int32_t __kmpc_bound_num_threads(void*) { return region()->team->threads; }
API int32_t __kmpc_in_parallel(void*) { return region()->active_level > 0; }
API int32_t __kmpc_ok_to_fork(void*) { return 1; }
API void __kmpc_begin(void*, int32_t) {}
API void __kmpc_end(void*) {}
API void __kmpc_push_num_threads(void*, int32_t, int32_t threads) { self()->wanted = threads; }
API void __kmpc_push_num_threads_strict(void*, int32_t, int32_t threads, int, const char*) { self()->wanted = threads; }
API void __kmpc_push_proc_bind(void*, int32_t, int) {}
API void __kmpc_push_num_teams(void*, int32_t, int32_t, int32_t threads) { self()->wanted = threads; }
API void __kmpc_push_num_teams_51(void*, int32_t, int32_t, int32_t, int32_t threads) { self()->wanted = threads; }

static void fill(Team& team, int32_t count, Outlined function, va_list given) {
  if (count > most_arguments) {
    fprintf(stderr, "gpulab: a parallel region uses %d variables of the code around it; %d can be passed on.\n"
            "Try: put them into a structure.\n", count, most_arguments);
    abort();
  }
  team.function = function;
  for (int at = 0; at < most_arguments; at++) team.arguments[at] = at < count ? va_arg(given, void*) : nullptr;
}

API void __kmpc_fork_call(void*, int32_t count, Outlined function, ...) {
  va_list given;
  va_start(given, function);
  Team team;
  fill(team, count, function, given);
  va_end(given);
  Thread* me = self();
  run(&team, me->wanted > 0 ? me->wanted : default_threads());
}

API void __kmpc_fork_call_if(void*, int32_t, Outlined function, int32_t condition, void* argument) {
  Team team;
  team.function = function;
  for (void*& each : team.arguments) each = nullptr;
  team.arguments[0] = argument;
  Thread* me = self();
  run(&team, !condition ? 1 : me->wanted > 0 ? me->wanted : default_threads());
}

API void __kmpc_fork_teams(void*, int32_t count, Outlined function, ...) {
  va_list given;
  va_start(given, function);
  Team team;
  fill(team, count, function, given);
  va_end(given);
  int wanted = self()->wanted;  // for the parallel regions inside
  call(&team, self()->global, 0);
  self()->wanted = wanted;
}

API void __kmpc_serialized_parallel(void*, int32_t) {
  Region* outer = region();
  Region* inner = new Region{new Team, 0, outer->level + 1, outer->active_level};
  inner->outer = outer;
  self()->region = inner;
  self()->wanted = 0;
}
API void __kmpc_end_serialized_parallel(void*, int32_t) {
  Region* inner = region();
  self()->region = inner->outer;
  delete inner->team;
  delete inner;
}

API void __kmpc_barrier(void*, int32_t) { barrier(region()->team); }
API int32_t __kmpc_cancel_barrier(void*, int32_t) {
  barrier(region()->team);
  return 0;
}
API int32_t __kmpc_barrier_master(void*, int32_t) {
  barrier(region()->team);
  if (region()->number == 0) return 1;  // the others wait for __kmpc_end_barrier_master
  barrier(region()->team);
  return 0;
}
API void __kmpc_end_barrier_master(void*, int32_t) { barrier(region()->team); }
API int32_t __kmpc_barrier_master_nowait(void*, int32_t) {
  barrier(region()->team);
  return region()->number == 0;
}
API int32_t __kmpc_cancel(void*, int32_t, int32_t) { return 0; }
API int32_t __kmpc_cancellationpoint(void*, int32_t, int32_t) { return 0; }
API void __kmpc_flush(void*) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

API int32_t __kmpc_master(void*, int32_t) { return region()->number == 0; }
API void __kmpc_end_master(void*, int32_t) {}
API int32_t __kmpc_masked(void*, int32_t, int32_t filter) { return region()->number == filter; }
API void __kmpc_end_masked(void*, int32_t) {}
API int32_t __kmpc_single(void*, int32_t) {
  Region* here = region();
  uint64_t mine = here->singles++;
  return __atomic_compare_exchange_n(&here->team->singles, &mine, mine + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
API void __kmpc_end_single(void*, int32_t) {}
API void __kmpc_copyprivate(void*, int32_t, size_t, void* data, void (*copy)(void*, void*), int32_t mine) {
  Team* team = region()->team;
  if (mine) team->copied = data;
  barrier(team);
  if (!mine) copy(data, team->copied);
  barrier(team);
}
API void* __kmpc_copyprivate_light(void*, int32_t, void* data) {
  Team* team = region()->team;
  if (data) team->copied = data;
  barrier(team);
  return team->copied;
}

API void __kmpc_critical(void*, int32_t, void** name) { critical_mutex(name)->lock(); }
API void __kmpc_critical_with_hint(void*, int32_t, void** name, uint32_t) { critical_mutex(name)->lock(); }
API void __kmpc_end_critical(void*, int32_t, void** name) { critical_mutex(name)->unlock(); }

API int32_t __kmpc_reduce_nowait(void*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), void**) {
  reduction_turn();
  return 1;
}
API void __kmpc_end_reduce_nowait(void*, int32_t, void**) { reduction_done(); }
API int32_t __kmpc_reduce(void*, int32_t, int32_t, size_t, void*, void (*)(void*, void*), void**) {
  reduction_turn();
  return 1;
}
API void __kmpc_end_reduce(void*, int32_t, void**) {
  reduction_done();
  barrier(region()->team);
}

#define LOOPS(suffix, T, S)                                                                                             \
  API void __kmpc_for_static_init_##suffix(void*, int32_t, int32_t schedule, int32_t* last, T* lower, T* upper,          \
                                           S* stride, S step, S chunk) {                                                \
    int64_t wide;                                                                                                       \
    static_init<T>(schedule, last, lower, upper, &wide, step, chunk, region()->number, region()->team->threads);         \
    *stride = static_cast<S>(wide);                                                                                     \
  }                                                                                                                     \
  API void __kmpc_dist_for_static_init_##suffix(void*, int32_t, int32_t schedule, int32_t* last, T* lower, T* upper,     \
                                                T* whole, S* stride, S step, S chunk) {                                 \
    int64_t wide;                                                                                                       \
    *whole = *upper;                                                                                                    \
    static_init<T>(schedule, last, lower, upper, &wide, step, chunk, region()->number, region()->team->threads);         \
    *stride = static_cast<S>(wide);                                                                                     \
  }                                                                                                                     \
  API void __kmpc_team_static_init_##suffix(void*, int32_t, int32_t* last, T* lower, T* upper, S* stride, S step, S) {   \
    if (last) *last = 1;                                                                                                \
    *stride = static_cast<S>(trips(*lower, *upper, step) * static_cast<uint64_t>(step));                                \
  }                                                                                                                     \
  API void __kmpc_dispatch_init_##suffix(void*, int32_t, int32_t schedule, T lower, T upper, S step, S chunk) {          \
    dispatch_init<T>(schedule, lower, upper, step, chunk);                                                              \
  }                                                                                                                     \
  API int32_t __kmpc_dispatch_next_##suffix(void*, int32_t, int32_t* last, T* lower, T* upper, S* step) {                \
    return dispatch_next(last, lower, upper, step);                                                                     \
  }                                                                                                                     \
  API void __kmpc_dispatch_fini_##suffix(void*, int32_t) { dispatch_fini(); }
LOOPS(4, int32_t, int32_t)
LOOPS(4u, uint32_t, int32_t)
LOOPS(8, int64_t, int64_t)
LOOPS(8u, uint64_t, int64_t)
API void __kmpc_for_static_fini(void*, int32_t) {}
API void __kmpc_dispatch_deinit(void*, int32_t) { leave(region()); }

API void __kmpc_ordered(void*, int32_t) {
  Region* here = region();
  if (here->loop) wait_for_turn(here);
}
API void __kmpc_end_ordered(void*, int32_t) {
  Region* here = region();
  if (!here->loop) return;
  here->bumped = true;
  next_turn(here);
}

struct Dimension {  // Clang counts iterations from 0 in steps of 1: `upper` is how many there are
  int64_t lower, upper, step;
};
// Loops whose iterations wait for others (ordered(n), depend(sink: ...)): a byte for each iteration that is done.
static int64_t place(const Dimension* dimensions, int rank, const int64_t* at) {
  int64_t found = 0;
  for (int i = 0; i < rank; i++) {
    if (at[i] < 0 || at[i] >= dimensions[i].upper) return -1;
    found = found * dimensions[i].upper + at[i];
  }
  return found;
}
static thread_local Loop* crossed;
API void __kmpc_doacross_init(void*, int32_t, int32_t rank, const Dimension* given) {
  Region* here = region();
  Team* team = here->team;
  Guard held(team->mutex);
  bool fresh;
  Loop* loop = find(here, fresh);
  here->loops++;
  if (fresh) {
    uint64_t count = 1;
    for (int i = 0; i < rank; i++) count *= static_cast<uint64_t>(given[i].upper);
    loop->rank = rank;
    loop->done = static_cast<uint8_t*>(calloc(1, rank * sizeof(Dimension) + count));
    memcpy(loop->done, given, rank * sizeof(Dimension));
  }
  crossed = loop;
}
API void __kmpc_doacross_wait(void*, int32_t, const int64_t* at) {
  Loop* loop = crossed;
  int64_t where = place(reinterpret_cast<Dimension*>(loop->done), loop->rank, at);
  if (where < 0) return;
  uint8_t* flag = loop->done + loop->rank * sizeof(Dimension) + where;
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) sched_yield();
}
API void __kmpc_doacross_post(void*, int32_t, const int64_t* at) {
  Loop* loop = crossed;
  int64_t where = place(reinterpret_cast<Dimension*>(loop->done), loop->rank, at);
  __atomic_store_n(loop->done + loop->rank * sizeof(Dimension) + where, 1, __ATOMIC_RELEASE);
}
API void __kmpc_doacross_fini(void*, int32_t) {
  Region* here = region();
  Loop* other = here->loop;
  here->loop = crossed;
  leave(here);
  here->loop = other;
}

// ------------------------------------------------------------------------------------------------- tasks

API Task* __kmpc_omp_task_alloc(void*, int32_t, int32_t flags, size_t size, size_t shared, int32_t (*routine)(int32_t, Task*)) {
  size_t whole = (size + 15) & ~size_t{15};
  Header* header = static_cast<Header*>(calloc(1, sizeof(Header) + whole + shared));
  if (!header) abort();
  header->flags = flags;
  Task* task = reinterpret_cast<Task*>(header + 1);
  task->shared = shared ? reinterpret_cast<char*>(task) + whole : nullptr;
  task->routine = routine;
  return task;
}
API int32_t __kmpc_omp_task(void*, int32_t thread, Task* task) {
  run_task(thread, task);
  return 0;
}
API int32_t __kmpc_omp_task_parts(void*, int32_t thread, Task* task) { return __kmpc_omp_task(nullptr, thread, task); }
API int32_t __kmpc_omp_task_with_deps(void*, int32_t thread, Task* task, int32_t, void*, int32_t, void*) {
  run_task(thread, task);
  return 0;
}
API void __kmpc_omp_task_begin_if0(void*, int32_t, Task*) {}
API void __kmpc_omp_task_complete_if0(void*, int32_t thread, Task* task) {
  Header* header = reinterpret_cast<Header*>(task) - 1;
  if (header->flags & 8) task->destructors(thread, task);
  free(header);
}
API void __kmpc_omp_wait_deps(void*, int32_t, int32_t, void*, int32_t, void*) {}
API int32_t __kmpc_omp_taskwait(void*, int32_t) { return 0; }
API void __kmpc_omp_taskwait_deps_51(void*, int32_t, int32_t, void*, int32_t, void*, int32_t) {}
API int32_t __kmpc_omp_taskyield(void*, int32_t, int32_t) { return 0; }
API void __kmpc_taskgroup(void*, int32_t) {}
API void __kmpc_end_taskgroup(void*, int32_t) {}
API void __kmpc_taskloop(void*, int32_t thread, Task* task, int32_t, uint64_t* lower, uint64_t*, int64_t, int32_t, int32_t,
                         uint64_t, void*) {
  // One task for all iterations. Behind the bounds and the step stands whether it has the last iteration.
  *reinterpret_cast<int32_t*>(lower + 3) = 1;
  run_task(thread, task);
}
API void __kmpc_taskloop_5(void* place, int32_t thread, Task* task, int32_t condition, uint64_t* lower, uint64_t* upper,
                           int64_t step, int32_t nogroup, int32_t schedule, uint64_t grain, int32_t, void* copy) {
  __kmpc_taskloop(place, thread, task, condition, lower, upper, step, nogroup, schedule, grain, copy);
}
API void* __kmpc_task_reduction_init(int32_t, int32_t, void*) { return nullptr; }
API void* __kmpc_taskred_init(int32_t, int32_t, void*) { return nullptr; }
API void* __kmpc_task_reduction_modifier_init(void*, int32_t, int32_t, int32_t, void*) { return nullptr; }
API void* __kmpc_taskred_modifier_init(void*, int32_t, int32_t, int32_t, void*) { return nullptr; }
API void __kmpc_task_reduction_modifier_fini(void*, int32_t, int32_t) {}
API void* __kmpc_task_reduction_get_th_data(int32_t, void*, void* data) { return data; }  // no other task runs meanwhile

// ------------------------------------------------------------------------------------------------ omp.h

API int omp_get_thread_num() { return region()->number; }
API int omp_get_num_threads() { return region()->team->threads; }
API int omp_get_max_threads() { return default_threads(); }
API int omp_get_num_procs() { return processors(); }
API int omp_in_parallel() { return region()->active_level > 0; }
API void omp_set_num_threads(int threads) {
  if (threads > 0) self()->settings.threads = threads;
}
API void omp_set_dynamic(int) {}
API int omp_get_dynamic() { return 0; }
API void omp_set_nested(int nested) { self()->settings.nested = nested != 0; }
API int omp_get_nested() { return self()->settings.nested; }
API int omp_get_cancellation() { return 0; }
API void omp_set_schedule(int kind, int chunk) {
  self()->settings.kind = kind & 0x7fffffff;
  self()->settings.chunk = chunk > 0 ? chunk : 0;
}
API void omp_get_schedule(int* kind, int* chunk) {
  *kind = self()->settings.kind;
  *chunk = self()->settings.chunk;
}
API int omp_get_thread_limit() { return 1 << 16; }
API void omp_set_max_active_levels(int) {}
API int omp_get_max_active_levels() { return 1; }
API int omp_get_supported_active_levels() { return 1; }
API int omp_get_level() { return region()->level; }
API int omp_get_active_level() { return region()->active_level; }
static Region* ancestor(int level) {
  Region* found = region();
  if (level < 0 || level > found->level) return nullptr;
  while (found->level > level) found = found->outer;
  return found;
}
API int omp_get_ancestor_thread_num(int level) { return ancestor(level) ? ancestor(level)->number : -1; }
API int omp_get_team_size(int level) { return ancestor(level) ? ancestor(level)->team->threads : -1; }
API int omp_in_final() { return 0; }
API int omp_get_proc_bind() { return 0; }
API int omp_get_num_places() { return 0; }
API int omp_get_place_num_procs(int) { return 0; }
API void omp_get_place_proc_ids(int, int*) {}
API int omp_get_place_num() { return -1; }
API void omp_set_default_device(int) {}
API int omp_get_default_device() { return 0; }
API int omp_get_num_devices() { return 0; }
API int omp_get_device_num() { return 0; }
API int omp_get_initial_device() { return 0; }
API int omp_is_initial_device() { return 1; }
API int omp_get_num_teams() { return 1; }
API int omp_get_team_num() { return 0; }
API void omp_set_num_teams(int) {}
API int omp_get_max_teams() { return 1; }
API void omp_set_teams_thread_limit(int) {}
API int omp_get_teams_thread_limit() { return 1 << 16; }
API int omp_get_max_task_priority() { return 0; }
API int omp_pause_resource(int, int) { return 0; }
API int omp_pause_resource_all(int) { return 0; }
API void omp_display_env(int) {
  fprintf(stderr, "OPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '202011'\n  OMP_NUM_THREADS = '%d'\n"
          "OPENMP DISPLAY ENVIRONMENT END\n", default_threads());
}
API double omp_get_wtime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
API double omp_get_wtick() { return 1e-9; }

struct omp_lock_t {
  void* mutex;
};
API void omp_init_lock(omp_lock_t* lock) { lock->mutex = nullptr; }  // who comes first makes it
API void omp_init_lock_with_hint(omp_lock_t* lock, int) { omp_init_lock(lock); }
API void omp_destroy_lock(omp_lock_t* lock) {
  delete static_cast<Mutex*>(lock->mutex);
  lock->mutex = nullptr;
}
API void omp_set_lock(omp_lock_t* lock) { critical_mutex(&lock->mutex)->lock(); }
API void omp_unset_lock(omp_lock_t* lock) { critical_mutex(&lock->mutex)->unlock(); }
API int omp_test_lock(omp_lock_t* lock) { return pthread_mutex_trylock(&critical_mutex(&lock->mutex)->mutex) == 0; }

struct Nested {
  pthread_mutex_t mutex;
  int owner, depth;
};
struct omp_nest_lock_t {
  Nested* lock;
};
API void omp_init_nest_lock(omp_nest_lock_t* given) {
  given->lock = new Nested{PTHREAD_MUTEX_INITIALIZER, -1, 0};
}
API void omp_init_nest_lock_with_hint(omp_nest_lock_t* given, int) { omp_init_nest_lock(given); }
API void omp_destroy_nest_lock(omp_nest_lock_t* given) {
  delete given->lock;
  given->lock = nullptr;
}
API void omp_set_nest_lock(omp_nest_lock_t* given) {
  Nested* lock = given->lock;
  if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self()->global) {
    pthread_mutex_lock(&lock->mutex);
    __atomic_store_n(&lock->owner, self()->global, __ATOMIC_RELAXED);
  }
  lock->depth++;
}
API void omp_unset_nest_lock(omp_nest_lock_t* given) {
  Nested* lock = given->lock;
  if (--lock->depth > 0) return;
  __atomic_store_n(&lock->owner, -1, __ATOMIC_RELAXED);
  pthread_mutex_unlock(&lock->mutex);
}
API int omp_test_nest_lock(omp_nest_lock_t* given) {
  Nested* lock = given->lock;
  if (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED) != self()->global) {
    if (pthread_mutex_trylock(&lock->mutex) != 0) return 0;
    __atomic_store_n(&lock->owner, self()->global, __ATOMIC_RELAXED);
  }
  return ++lock->depth;
}
API void* omp_alloc(size_t bytes, uintptr_t) { return malloc(bytes); }
API void* omp_calloc(size_t count, size_t bytes, uintptr_t) { return calloc(count, bytes); }
API void* omp_aligned_alloc(size_t alignment, size_t bytes, uintptr_t) {
  void* found = nullptr;
  return posix_memalign(&found, alignment < sizeof(void*) ? sizeof(void*) : alignment, bytes) == 0 ? found : nullptr;
}
API void omp_free(void* pointer, uintptr_t) { free(pointer); }
