/* The loop over workgroups and their waves, and the fault that ends it.

   gpulab_launch   begins a launch with these arguments; one for a single thread is run, too
   gpulab_begin    a thread takes part in a launch
   gpulab_run      one thread's part of a launch: takes workgroups until none is left
   gpulab_merge    adds to what one thread counted what another did
   gpulab_collect  writes down what was counted and recorded
   gpulab_stop     records a fault that translated code found itself
   gpulab_clock    what a kernel sees as a clock */

#include "support.h"

Fault fault_of(Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 access) {
  Launch *launch = launch_of(wave);
  Fault f = {0};
  f.number = wave->group[0] + (u64)launch->grid[0] * (wave->group[1] + (u64)launch->grid[1] * wave->group[2]);
  f.kind = kind; f.instruction = instruction; f.wave = wave->index; f.lane = lane;
  f.group[0] = wave->group[0]; f.group[1] = wave->group[1]; f.group[2] = wave->group[2];
  f.bytes = bytes; f.access = access; f.address = address;
  return f;
}

void take_fault(Thread *thread, const Fault *found) {
  Launch *launch = thread->launch;
  u64 number = found->number;
  if (thread->fault.kind && thread->fault.number <= number) return;
  thread->fault = *found;
  u64 lowest = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  while (number < lowest &&
         !__atomic_compare_exchange_n(&launch->faulted, &lowest, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

int fault(Wave *wave, u32 kind, u32 instruction, u32 lane, u64 address, u32 bytes, u32 access) {
  Thread *thread = wave->thread;
  Check *c = thread->launch->checker;
  Fault found = fault_of(wave, kind, instruction, lane, address, bytes, access);
  if (c) keep_found(c, &thread->fault, &found, FOUND_NOTHING);
  take_fault(thread, &found);
  return 1;
}

int gpulab_stop(Wave *wave, u32 kind, u32 instruction) { return fault(wave, kind, instruction, ~0u, 0, 0, ~0u); }

/* Clocks as a kernel sees them: instructions executed by this wave, so that runs repeat exactly. */
u64 gpulab_clock(Wave *wave) {
  return (u64)(launch_of(wave)->limit - (u64)wave->steps - (u64)wave->budget - (u64)wave->withheld);
}

/* What a thread counts is 0, and it keeps nothing of the launch before. What is the same for all waves of a launch goes
   into the template. */
void gpulab_begin(Thread *thread, Launch *launch) {
  Wave *wave = &thread->template_wave;
  u64 progress = __builtin_offsetof(Thread, fault);
  thread->launch = launch;
  thread->slot_bytes = launch->slot_bytes;
  thread->number = thread->order + launch->room;
  clear((void *)wave->counters, 8 * launch->block_count);
  clear((void *)wave->active, launch->active_bytes);
  clear((void *)wave->cache, launch->cache_bytes);
  clear((u8 *)thread + progress, sizeof(Thread) - progress);
  thread->tell = (u64)gpulab_tell;
  /* In a checked launch check_resume says it. The recorder of samples is told of single accesses alone. */
  thread->tell_loop = launch->tells ? (u64)gpulab_tell_loop : 0;
  wave->thread = thread;
  wave->lds_bytes = launch->lds_bytes;
  wave->scratch_bytes = launch->scratch_bytes;
  wave->observer = wave->blind = 0;
  wave->status = WAVE_YIELD;
  wave->pc = launch->first_pc;
  wave->budget = 0;
  wave->steps = (i64)launch->limit;
  wave->mode = launch->mode;
  wave->symbols = launch->symbols;
  wave->store = launch->store;
  wave->note = launch->note;
  wave->checker = launch->checker;
  for (u64 i = 0; i < launch->scalar_count; i++) wave->scalars[i] = launch->scalars[i];
  const u32 *given = (const u32 *)launch->arguments + launch->preload[2];
  for (u32 i = 0; i < launch->preload[1]; i++) wave->scalars[launch->preload[0] + i] = given[i];
}

static inline void coordinates(const Launch *launch, u64 number, u32 *group) {
  group[0] = (u32)number;
  group[1] = group[2] = 0;
  if (launch->grid[1] == 1 && launch->grid[2] == 1) return;
  u64 row = number / launch->grid[0];
  group[0] = (u32)(number - row * launch->grid[0]);
  group[2] = launch->grid[2] == 1 ? 0 : (u32)(row / launch->grid[1]);
  group[1] = (u32)(row - (u64)group[2] * launch->grid[1]);
}

/* The first workgroup of the sample from a number on, if no others are to run. */
static NOINLINE u64 recorded_from(const Launch *launch, u64 number) {
  u32 group[3];
  for (; number < launch->total; number++) {
    coordinates(launch, number, group);
    if (is_recorded(launch->observation, group)) break;
  }
  return number;
}

/* What a wave knows of where its workgroup is in the grid. */
static inline void locate(Wave *wave, const Launch *launch, const u32 *group, u64 number) {
  u32 id_x = launch->id_register[0], id_y = launch->id_register[1], id_z = launch->id_register[2];
  for (u32 d = 0; d < 3; d++) wave->group[d] = group[d];
  wave->number = (u32)number;
  if (id_x != ~0u) wave->scalars[id_x] = group[0];
  if (id_y != ~0u) wave->scalars[id_y] = id_y == id_z ? group[1] | group[2] << 16 : group[1];
  if (id_z != ~0u && id_y != id_z) wave->scalars[id_z] = group[2];
}

static inline u64 file_bytes(const Launch *launch) { return launch->vgprs * (u64)launch->wave_size * 4; }

/* Where the LDS of the workgroup in a slot is: after its waves and their registers. */
static inline u8 *lds_of(const Thread *thread, u64 slot) {
  const Launch *launch = thread->launch;
  return (u8 *)thread->memory + slot * thread->slot_bytes + (sizeof(Wave) + file_bytes(launch)) * launch->waves;
}

static inline u64 lds_room(const Launch *launch) { return (launch->lds_bytes + 63) / 64 * 64; }

/* The waves of a slot that held a workgroup before differ from the template in what a kernel reads before it has written
   it; the rest of their state is never read, or never changes. So many, the first ones, are through. */
static void start_group(Thread *thread, u64 slot, u64 number, const u32 *group, int observed, u32 through) {
  Launch *launch = thread->launch;
  u8 *memory = (u8 *)thread->memory + slot * thread->slot_bytes;
  u32 waves = launch->waves, id_vgprs = launch->id_vgprs;
  u64 row = (u64)launch->wave_size * 4, file = file_bytes(launch);
  u64 own_scratch = (u64)launch->wave_size * launch->scratch_bytes;
  u8 *vgprs = memory + sizeof(Wave) * waves;
  u8 *lds = lds_of(thread, slot);
  u8 *scratch = lds + lds_room(launch);
  clear_blocks(lds, lds_room(launch));
  clear_blocks(scratch, waves * own_scratch);
  const Wave *template = &thread->template_wave;
  const u8 *ids = (const u8 *)launch->lane_ids;
  const u64 *exec = launch->exec;
  const u32 *zeroed = launch->zeroed;
  u64 zeroed_count = launch->zeroed_count;
  u32 blocks = slot < thread->known ? launch->first_blocks : (1u << sizeof(Wave) / 64) - 1;
  if (slot >= thread->known) thread->known = slot + 1;
  u64 observer = observed ? launch->observer : 0, blind = observed ? launch->blind : 0;
  u64 cache = blind ? blind : template->cache;
  for (u32 w = 0; w < waves; w++) {
    Wave *wave = (Wave *)memory + w;
    for (u32 left = blocks; left; left &= left - 1) {
      u32 block = (u32)__builtin_ctz(left);
      ((Whole64 *)wave)[block] = ((const Whole64 *)template)[block];
    }
    u8 *own = vgprs + w * file;
    wave->vgprs = (u64)own;
    wave->lds = (u64)lds;
    wave->scratch = (u64)(scratch + w * own_scratch);
    wave->index = w;
    wave->next = w + 1 < waves ? wave + 1 : 0;
    wave->seen = wave->still = 0;
    wave->counted = wave->withheld = 0;
    wave->observer = observer;
    wave->blind = blind != 0;
    wave->cache = cache;
    locate(wave, launch, group, number);
    *(Loose64 *)(wave->scalars + EXEC) = exec[w]; /* at once, as it is read */
    for (u64 z = 0; z < zeroed_count; z++) clear_blocks(own + zeroed[z] * row, row);
    for (u32 v = 0; v < id_vgprs; v++) copy_blocks(own + v * row, ids + ((u64)v * waves + w) * row, row);
  }
  for (u32 w = 0; w < through; w++) ((Wave *)memory)[w].status = WAVE_ENDED;
  if (launch->checker) check_start(thread, memory, number, through);
}

/* Workgroups that are not tried straight at the most, after one that could not go that way. */
enum { MOST_TURNS = 63 };

/* Runs the waves of a workgroup that go straight through, the first ones of it (translate/straight.py) or all
   (translate/phases.py), which need no state but the template's, and LDS; the number of them. */
static u32 go_straight(Thread *thread, u64 number, const u32 *group, Teller tell) {
  const Launch *launch = thread->launch;
  u64 slot = thread->order[thread->used];
  if (thread->crooked) { thread->crooked--; return 0; }
  if (launch->checker && !check_straight(thread, slot, number, group)) return 0;
  Wave *wave = &thread->template_wave;
  locate(wave, launch, group, number);
  u8 *lds = lds_of(thread, slot);
  clear_blocks(lds, lds_room(launch));
  wave->lds = (u64)lds;
  u64 through = ((Through)launch->straight)(wave, (const u32 *)launch->lane_ids, launch->waves, tell);
  thread->turns = through < launch->waves ? (thread->turns << 1 | 1) & MOST_TURNS : 0;
  thread->crooked = thread->turns;
  return (u32)through;
}

/* What was withheld of a wave's slice is there again. */
static inline void give_back(Wave *wave) {
  wave->budget += wave->withheld;
  wave->withheld = 0;
}

/* Lets each live wave of a workgroup run once: until it ends, waits at a barrier, sleeps or has used its slice. Of waves
   that end or wait a kernel runs several in a row, up to thread->running.
   Returns the number of waves that are still live; ~0 after a fault. */
static u32 run_group(Thread *thread, u8 *memory) {
  Launch *launch = thread->launch;
  Entry entry = (Entry)launch->entry;
  Wave *waves = (Wave *)memory, *end = waves + launch->waves;
  int checked = launch->checker != 0, looks = !checked && !launch->grid_barrier;
  u64 work = 0, awake = 0, since = thread->since;
  u32 live;
  for (int released = 0;; released = 1) { /* in a round after a barrier all waves run, so a wait is for the next one */
    u32 yielded = 0;
    live = 0;
    for (Wave *wave = waves; wave < end; wave++) {
      if (wave->status == WAVE_ENDED) continue;
      if (wave->status == WAVE_BARRIER && !released) { live++; continue; }
      if (wave->budget <= 0 && !refill(launch, wave)) goto failed;
      if (checked) check_resume(wave);
      thread->running = wave;
      u32 status = (u32)entry(wave, (void *)wave->vgprs);
      Wave *last = thread->running;
      while (status == WAVE_YIELD && last->withheld) { /* it has no observer any more, and some of its slice left */
        give_back(last);
        if (last->budget <= 0) break;
        status = (u32)entry(last, (void *)last->vgprs);
        last = thread->running;
      }
      last->status = status;
      if (status == WAVE_FAULT) goto failed;
      if (checked && check_stopped(wave)) goto failed;
      if (looks && (last != wave || (status == WAVE_YIELD ? went_on(launch, last) : status != WAVE_SLEEP)))
        thread->moved = 1;
      for (;; wave++) {
        if (wave->status != WAVE_BARRIER || wave->withheld) { /* what it used until then counts when it stops elsewhere */
          give_back(wave);
          u64 used = (u64)(wave->counted - wave->budget);
          wave->counted = wave->budget;
          work += used;
          since += used;
        }
        if (wave->status == WAVE_ENDED) since = thread->rounds = 0; else live++;
        if (wave == last) break;
        awake++;
      }
      awake += status != WAVE_SLEEP;
      if (since > 2 * launch->limit && since > PATIENCE) {
        fault(wave, FAULT_TIMEOUT, wave->first_instruction, ~0u, 0, (u32)thread->used, ~0u);
        goto failed;
      }
      yielded += status == WAVE_YIELD || status == WAVE_SLEEP;
    }
    if (!live || yielded) break; /* other workgroups get their turn */
    /* Everyone alive is at the barrier: a wave that has ended counts as arrived. */
    if (checked && check_barrier(waves)) goto failed;
  }
  goto done;
failed:
  live = ~0u;
done:
  thread->work += work;
  thread->awake += awake;
  thread->since = since;
  return live;
}

/* What the thread has done since the last call goes to a workgroup's amount: its first, or more of it. */
static inline void weigh(Thread *thread, const Launch *launch, u64 number, int first) {
  const u64 *counters = (const u64 *)thread->template_wave.counters;
  const Weight *weights = launch->weights;
  u64 all = 0, *amount = launch->amounts + number;
  for (u64 i = 0; i < launch->weight_count; i++) all += weights[i].instructions * counters[weights[i].block];
  u64 done = all - thread->weighed + (first ? 0 : *amount);
  *amount = done;
  thread->weighed = all;
  if (done > thread->largest) thread->largest = done;
}

/* Workgroups. */
enum { BETWEEN_PAUSES = 1024 };

/* The number of the next workgroup that the thread may start now; ~0 if there is none, or no room for it. */
static inline u64 take_next(Thread *thread) {
  Launch *launch = thread->launch;
  if (!thread->used) { /* nobody waits for anybody */
    if (thread->allowed != launch->residents) { /* at first, and when more were alive */
      thread->allowed = launch->residents;
      for (u64 i = 0; i < thread->allowed; i++) thread->order[i] = i;
    }
    thread->shorter = thread->rounds = thread->moved = 0;
  }
  if (thread->used >= thread->allowed || __atomic_load_n(&launch->cancel, __ATOMIC_RELAXED)) return ~0ull;
  u64 faulted = __atomic_load_n(&launch->faulted, __ATOMIC_RELAXED);
  if (thread->own >= thread->own_end && faulted == ~0ull) {
    thread->own = __atomic_fetch_add(&launch->next, launch->batch, __ATOMIC_RELAXED);
    thread->own_end = thread->own + launch->batch;
    if (thread->own_end > launch->total) thread->own_end = thread->own < launch->total ? launch->total : thread->own;
  }
  if (launch->only) thread->own = recorded_from(launch, thread->own);
  /* After a fault what was set aside and comes before it is still run: the lowest faulting one is reported. */
  if (thread->own >= thread->own_end || thread->own >= faulted) return ~0ull;
  return thread->own++;
}

/* A workgroup's first turn. 1: it is through already, straight; else it has a place among those that are alive. */
static inline int start(Thread *thread, u64 number) {
  Launch *launch = thread->launch;
  u32 group[3], through = 0;
  coordinates(launch, number, group);
  int observed = launch->observer && (number < launch->observed || is_recorded(launch->observation, group));
  thread->executed += launch->waves;
  if (launch->straight && (!observed || launch->tells)) {
    through = go_straight(thread, number, group, !observed ? 0 : launch->checker ? gpulab_ask : gpulab_tell);
    if (through == launch->waves) return 1;
  }
  start_group(thread, thread->order[thread->used], number, group, observed, through);
  thread->number[thread->used] = number;
  thread->at = thread->used++;
  return 0;
}

/* The workgroup whose turn it was is not alive any more. */
static inline void leave(Thread *thread) {
  Launch *launch = thread->launch;
  if (launch->grid_barrier) __atomic_fetch_add(&launch->gone, 1, __ATOMIC_RELAXED);
  u64 at = thread->at, slot = thread->order[at], last = --thread->used;
  thread->order[at] = thread->order[last];
  thread->number[at] = thread->number[last];
  thread->order[last] = slot;
}

/* Whether it is time for a pause, so much work or so many workgroups after the last one. */
static inline int is_pause(Thread *thread, u64 work) {
  if (thread->ended < BETWEEN_PAUSES && work < thread->launch->slice) return 0;
  thread->ended = thread->work = 0;
  return 1;
}

/* Runs workgroups until there are none left, then returns 0. Returns 1 for a pause, to be called again: after about
   one slice's work and now and then besides, so that Python comes to see a Ctrl-C, and to optimise the code; and when a
   wave has called the host. */
int gpulab_run(Thread *thread) {
  Launch *launch = thread->launch;
  u8 *memory = (u8 *)thread->memory;
  for (;;) {
    int first = 0;
    if (thread->at >= thread->used) { /* all had their turn: a new workgroup if there is room, else round again */
      u64 next = take_next(thread);
      first = next != ~0ull;
      if (first && start(thread, next)) {
        if (launch->amounts) weigh(thread, launch, next, 1);
        thread->ended++;
        if (is_pause(thread, 0)) return 1;
        continue;
      }
      if (!first) {
        if (!thread->used) return 0;
        thread->at = 0;
        if (launch->grid_barrier) waits_for_ended(thread);
        else if (!launch->checker) look_around(thread);
        if (launch->checker) check_round(thread);
      }
    }
    u64 at = thread->at;
    u32 live = run_group(thread, memory + thread->order[at] * thread->slot_bytes);
    if (launch->amounts) weigh(thread, launch, thread->number[at], first);
    if (!live || live == ~0u || dropped(thread, thread->number[at])) {
      leave(thread);
      thread->ended++;
      if (is_pause(thread, thread->work)) return 1;
      continue;
    }
    thread->at++;
    thread->work += 64;
    if (launch->ready && *(u64 *)launch->ready) { /* who waits for the host does not wait for other workgroups */
      thread->moved = 1;
      return 1;
    }
    if (thread->work >= launch->slice) {
      thread->work = 0;
      return 1;
    }
  }
}

/* What a thread has counted joins what the first one has. */
void gpulab_merge(Thread *first, const Thread *other) {
  u64 *to = (u64 *)first->template_wave.counters;
  const u64 *from = (const u64 *)other->template_wave.counters;
  for (u64 i = 0; i < first->launch->block_count; i++) to[i] += from[i];
  first->executed += other->executed;
  first->weighed += other->weighed;
  if (other->largest > first->largest) first->largest = other->largest;
}

/* Writes down what a launch leaves behind, for Python to keep: waves that ran, executions of each block, and the sample
   (of LDS, words of each log, the logs). Returns its bytes. What each workgroup did stays in `amounts`. */
i64 gpulab_collect(const Thread *thread) {
  Launch *launch = thread->launch;
  u64 *to = (u64 *)launch->seen;
  const u64 *counters = (const u64 *)thread->template_wave.counters;
  *to++ = thread->executed;
  for (u64 i = 0; i < launch->block_count; i++) *to++ = counters[i];
  launch->uneven = thread->largest * launch->total * UNEVEN > thread->weighed * (UNEVEN + 1);
  return (i64)(record_end(launch, to) - launch->seen);
}

/* Begins a launch with the explicit arguments `given`, and runs it if it has one thread: the bytes that it leaves behind
   then (gpulab_collect), or -1: it goes on with gpulab_run. */
i64 gpulab_launch(Launch *launch, Thread *thread, const u8 *given, u64 size) {
  u8 *arguments = (u8 *)launch->arguments, *packet = (u8 *)launch->packet;
  if (size > launch->explicit) size = launch->explicit;
  for (u64 i = 0; i < size; i++) arguments[i] = given[i];
  for (u64 i = size; i < launch->segment_bytes; i++) arguments[i] = launch->segment[i];
  if (packet) copy_blocks(packet, launch->packet_words, 64);
  launch->next = launch->apart;
  launch->faulted = ~0ull;
  launch->cancel = launch->gone = launch->moves = 0;
  record_begin(launch);
  gpulab_begin(thread, launch);
  thread->own_end = launch->apart;
  return launch->threads > 1 || gpulab_run(thread) ? -1 : gpulab_collect(thread);
}
