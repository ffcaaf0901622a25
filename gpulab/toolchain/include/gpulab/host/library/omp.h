// omp.h - the functions of OpenMP for the host part of a program that is built with -fopenmp. What they do stands in
// gpulab/programs/host_libraries/openmp.cpp; names and values are those of the OpenMP specification 5.2.
#ifndef __GPULAB_OMP__
#define __GPULAB_OMP__
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#define GPULAB_OMP_VALUE(v) = v
extern "C" {
#else
#define GPULAB_OMP_VALUE(v)
#endif

typedef struct omp_lock_t {
  void* _lock;
} omp_lock_t;
typedef struct omp_nest_lock_t {
  void* _lock;
} omp_nest_lock_t;
typedef enum omp_sched_t {
  omp_sched_static = 1,
  omp_sched_dynamic = 2,
  omp_sched_guided = 3,
  omp_sched_auto = 4,
  omp_sched_monotonic = (int)0x80000000
} omp_sched_t;
typedef enum omp_proc_bind_t {
  omp_proc_bind_false = 0,
  omp_proc_bind_true = 1,
  omp_proc_bind_primary = 2,
  omp_proc_bind_master = 2,
  omp_proc_bind_close = 3,
  omp_proc_bind_spread = 4
} omp_proc_bind_t;
typedef enum omp_sync_hint_t {
  omp_sync_hint_none = 0,
  omp_sync_hint_uncontended = 1,
  omp_sync_hint_contended = 2,
  omp_sync_hint_nonspeculative = 4,
  omp_sync_hint_speculative = 8
} omp_sync_hint_t;
typedef omp_sync_hint_t omp_lock_hint_t;
typedef enum omp_pause_resource_t { omp_pause_soft = 1, omp_pause_hard = 2 } omp_pause_resource_t;
typedef uintptr_t omp_allocator_handle_t;
enum {
  omp_null_allocator = 0,
  omp_default_mem_alloc = 1,
  omp_large_cap_mem_alloc = 2,
  omp_const_mem_alloc = 3,
  omp_high_bw_mem_alloc = 4,
  omp_low_lat_mem_alloc = 5,
  omp_cgroup_mem_alloc = 6,
  omp_pteam_mem_alloc = 7,
  omp_thread_mem_alloc = 8
};

extern int omp_get_thread_num(void);
extern int omp_get_num_threads(void);
extern int omp_get_max_threads(void);
extern int omp_get_num_procs(void);
extern int omp_in_parallel(void);
extern void omp_set_num_threads(int threads);
extern void omp_set_dynamic(int dynamic);
extern int omp_get_dynamic(void);
extern void omp_set_nested(int nested);
extern int omp_get_nested(void);
extern int omp_get_cancellation(void);
extern void omp_set_schedule(omp_sched_t kind, int chunk);
extern void omp_get_schedule(omp_sched_t* kind, int* chunk);
extern int omp_get_thread_limit(void);
extern void omp_set_max_active_levels(int levels);
extern int omp_get_max_active_levels(void);
extern int omp_get_supported_active_levels(void);
extern int omp_get_level(void);
extern int omp_get_active_level(void);
extern int omp_get_ancestor_thread_num(int level);
extern int omp_get_team_size(int level);
extern int omp_in_final(void);
extern omp_proc_bind_t omp_get_proc_bind(void);
extern int omp_get_num_places(void);
extern int omp_get_place_num_procs(int place);
extern void omp_get_place_proc_ids(int place, int* ids);
extern int omp_get_place_num(void);
extern void omp_set_default_device(int device);
extern int omp_get_default_device(void);
extern int omp_get_num_devices(void);
extern int omp_get_device_num(void);
extern int omp_get_initial_device(void);
extern int omp_is_initial_device(void);
extern int omp_get_num_teams(void);
extern int omp_get_team_num(void);
extern void omp_set_num_teams(int teams);
extern int omp_get_max_teams(void);
extern void omp_set_teams_thread_limit(int limit);
extern int omp_get_teams_thread_limit(void);
extern int omp_get_max_task_priority(void);
extern int omp_pause_resource(omp_pause_resource_t kind, int device);
extern int omp_pause_resource_all(omp_pause_resource_t kind);
extern void omp_display_env(int verbose);
extern double omp_get_wtime(void);
extern double omp_get_wtick(void);

extern void omp_init_lock(omp_lock_t* lock);
extern void omp_init_lock_with_hint(omp_lock_t* lock, omp_sync_hint_t hint);
extern void omp_destroy_lock(omp_lock_t* lock);
extern void omp_set_lock(omp_lock_t* lock);
extern void omp_unset_lock(omp_lock_t* lock);
extern int omp_test_lock(omp_lock_t* lock);
extern void omp_init_nest_lock(omp_nest_lock_t* lock);
extern void omp_init_nest_lock_with_hint(omp_nest_lock_t* lock, omp_sync_hint_t hint);
extern void omp_destroy_nest_lock(omp_nest_lock_t* lock);
extern void omp_set_nest_lock(omp_nest_lock_t* lock);
extern void omp_unset_nest_lock(omp_nest_lock_t* lock);
extern int omp_test_nest_lock(omp_nest_lock_t* lock);

extern void* omp_alloc(size_t bytes, omp_allocator_handle_t allocator GPULAB_OMP_VALUE(omp_null_allocator));
extern void* omp_calloc(size_t count, size_t bytes, omp_allocator_handle_t allocator GPULAB_OMP_VALUE(omp_null_allocator));
extern void* omp_aligned_alloc(size_t alignment, size_t bytes,
                               omp_allocator_handle_t allocator GPULAB_OMP_VALUE(omp_null_allocator));
extern void omp_free(void* pointer, omp_allocator_handle_t allocator GPULAB_OMP_VALUE(omp_null_allocator));

#ifdef __cplusplus
}
#endif
#undef GPULAB_OMP_VALUE
#endif
