"""OpenMP's runtime, MPI of one rank and ROCTX, against numbers worked out by hand."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from gpulab.programs import command, tools
from gpulab.toolchain import hosted

pytestmark = pytest.mark.skipif(bool(hosted.unavailable()), reason=hosted.unavailable() or "programs can be built")

OPENMP = r"""
#include <omp.h>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>
#include <vector>
static int failures = 0;
#define CHECK(what) do { if (!(what)) { std::printf("line %d: %s\n", __LINE__, #what); failures++; } } while (0)
static int private_to_threads = 3;
#pragma omp threadprivate(private_to_threads)

template <typename T> void loops(const char* name) {
  const int n = 103;
  for (int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    for (T step : {T(1), T(3)}) {
      std::vector<int> hits(n, 0), back(n, 0), owner(n, -1);
      T last = 0;
#pragma omp parallel for lastprivate(last)
      for (T i = 0; i < n; i += step) { hits[i]++; owner[i] = omp_get_thread_num(); last = i; }
      CHECK(last == (n - 1) / step * step);
#pragma omp parallel for schedule(static, 4)
      for (T i = 0; i < n; i += step) { hits[i]++; back[i] = omp_get_thread_num(); }
#pragma omp parallel for schedule(dynamic)
      for (T i = 0; i < n; i += step) hits[i]++;
#pragma omp parallel for schedule(dynamic, 5) lastprivate(last)
      for (T i = 0; i < n; i += step) { hits[i]++; last = i; }
      CHECK(last == (n - 1) / step * step);
#pragma omp parallel for schedule(guided)
      for (T i = 0; i < n; i += step) hits[i]++;
#pragma omp parallel for schedule(runtime)
      for (T i = 0; i < n; i += step) hits[i]++;
      for (int i = 0, trip = 0; i < n; i++) {
        CHECK(hits[i] == (i % step == 0 ? 6 : 0));
        if (i % step) continue;
        CHECK(back[i] == trip / 4 % threads);
        CHECK(i == 0 || owner[i] >= owner[i - (int)step]);
        trip++;
      }
    }
    int down = 0;
#pragma omp parallel for reduction(+ : down) schedule(static, 2)
    for (int i = 100; i > 0; i -= 7) down += i;
    CHECK(down == 100 + 93 + 86 + 79 + 72 + 65 + 58 + 51 + 44 + 37 + 30 + 23 + 16 + 9 + 2);
    int none = 0;
#pragma omp parallel for reduction(+ : none)
    for (T i = 5; i < 5; i++) none++;
    CHECK(none == 0);
  }
  (void)name;
}

int main() {
  loops<int>("int");
  loops<unsigned>("unsigned");
  loops<long>("long");
  loops<unsigned long>("unsigned long");
  omp_set_num_threads(4);
  CHECK(omp_get_max_threads() == 4 && omp_get_num_threads() == 1 && !omp_in_parallel());

  // sums that are the same in each run, other reductions
  double first = 0;
  for (int round = 0; round < 5; round++) {
    double sum = 0;
    int most = -1, all = ~0, any = 0;
    long product = 1;
    int counts[3] = {0, 0, 0};
#pragma omp parallel for reduction(+ : sum, counts[:3]) reduction(max : most) reduction(& : all) reduction(|| : any) \
    reduction(* : product)
    for (int i = 0; i < 1000; i++) {
      sum += 1.0 / (i + 1);
      most = i > most ? i : most;
      all &= i | 8;
      any = any || i == 77;
      if (i < 20) product *= i % 3 + 1;
      counts[i % 3]++;
    }
    if (round == 0) first = sum;
    CHECK(sum == first && sum > 7.4854 && sum < 7.4855);
    CHECK(most == 999 && all == 8 && any == 1 && product == 2L * 3 * 2 * 3 * 2 * 3 * 2 * 3 * 2 * 3 * 2 * 3 * 2);
    CHECK(counts[0] == 334 && counts[1] == 333 && counts[2] == 333);
  }

  // one region with everything
  std::set<std::thread::id> ids;
  int team = 0, singles = 0, masters = 0, critical = 0, atomic = 0, sections = 0, copied[4] = {0, 0, 0, 0};
  std::vector<int> order;
#pragma omp parallel num_threads(3)
  {
#pragma omp critical(identifiers)
    ids.insert(std::this_thread::get_id());
#pragma omp single
    { team = omp_get_num_threads(); singles++; }
#pragma omp master
    masters++;
    for (int i = 0; i < 100; i++) {
#pragma omp critical
      critical++;
#pragma omp atomic
      atomic++;
    }
#pragma omp barrier
    CHECK(critical == 300 && atomic == 300);
#pragma omp sections
    {
#pragma omp section
      __atomic_fetch_add(&sections, 1, __ATOMIC_RELAXED);
#pragma omp section
      __atomic_fetch_add(&sections, 10, __ATOMIC_RELAXED);
#pragma omp section
      __atomic_fetch_add(&sections, 100, __ATOMIC_RELAXED);
    }
    int value = 0;
#pragma omp single copyprivate(value)
    value = 42;
    copied[omp_get_thread_num()] = value;
#pragma omp for ordered schedule(dynamic, 3)
    for (int i = 0; i < 40; i++) {
      if (i % 2 == 0) {
#pragma omp ordered
        order.push_back(i);
      }
    }
#pragma omp for nowait
    for (int i = 0; i < 10; i++) {}
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < 10; i++) {}
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < 10; i++) {}
    CHECK(omp_in_parallel() && omp_get_level() == 1);
    int inner = 0;
#pragma omp parallel reduction(+ : inner)
    inner += omp_get_num_threads() * 10 + omp_get_level();
    CHECK(inner == 12);
    CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(1) == 3);
  }
  CHECK(ids.size() == 3 && team == 3 && singles == 1 && masters == 1 && sections == 111);
  CHECK(copied[0] == 42 && copied[1] == 42 && copied[2] == 42);
  CHECK(order.size() == 20);
  for (size_t i = 0; i < order.size(); i++) CHECK(order[i] == 2 * (int)i);

  // tasks
  int tasks = 0, taskloop[50] = {}, chain = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; i++) {
#pragma omp task firstprivate(i) shared(tasks)
      {
#pragma omp atomic
        tasks += i;
      }
    }
#pragma omp taskwait
    CHECK(tasks == 45);
    int last = 0;
#pragma omp taskloop grainsize(4) lastprivate(last)
    for (int i = 0; i < 50; i++) { taskloop[i]++; last = i; }
    CHECK(last == 49);
#pragma omp task depend(out : chain) shared(chain)
    chain = 5;
#pragma omp task depend(in : chain) shared(chain) if (0)
    CHECK(chain == 5);
#pragma omp taskgroup task_reduction(+ : tasks)
    {
#pragma omp task in_reduction(+ : tasks)
      tasks += 100;
    }
    CHECK(tasks == 145);
    std::vector<int> copied_into_a_task(3, 7);
#pragma omp task firstprivate(copied_into_a_task)
    CHECK(copied_into_a_task[2] == 7);
  }
  for (int each : taskloop) CHECK(each == 1);

  // iterations that wait for others: a wave front
  int grid[12][12];
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = i == 0 || j == 0 ? 1 : (grid[i - 1][j] + grid[i][j - 1]) % 10007;
#pragma omp ordered depend(source)
    }
  CHECK(grid[5][5] == 252 && grid[10][10] == 184756 % 10007);
  // the first iteration comes late, and all others wait for it
  int one_by_one[8] = {0};
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 0; i < 8; i++) {
    if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
#pragma omp ordered depend(sink : i - 1)
    one_by_one[i] = i == 0 ? 1 : one_by_one[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  CHECK(one_by_one[7] == 8);

  // variables of threads, locks, collapse, simd, teams
  private_to_threads = 9;
  int seen = 0;
#pragma omp parallel copyin(private_to_threads) reduction(+ : seen)
  seen += private_to_threads;
  CHECK(seen == 36);
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  int locked = 0;
#pragma omp parallel
  {
    omp_set_lock(&lock);
    locked++;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    locked++;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
  }
  CHECK(locked == 8 && omp_test_lock(&lock) && !omp_test_lock(&lock));
  omp_unset_lock(&lock);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  int matrix[7][9] = {};
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 9; j++) matrix[i][j] += i * j;
  int total = 0;
#pragma omp teams distribute parallel for reduction(+ : total)
  for (int i = 0; i < 63; i++) total += matrix[i / 9][i % 9];
  CHECK(total == 21 * 36);
  omp_set_schedule(omp_sched_dynamic, 3);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  CHECK(kind == omp_sched_dynamic && chunk == 3);

  // several threads of the program with regions of their own
  std::atomic<int> many{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; round++) {
        int sum = 0;
#pragma omp parallel for num_threads(2 + round % 2) reduction(+ : sum)
        for (int i = 0; i < 100; i++) sum += i;
        many += sum;
      }
    });
  for (auto& each : threads) each.join();
  CHECK(many == 3 * 20 * 4950);
  CHECK(omp_get_wtime() > 0 && omp_get_wtick() > 0 && omp_get_num_procs() >= 1);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
"""

HIP_IN_THREADS = r"""
#include <hip/hip_runtime.h>
#include <omp.h>
#include <cstdio>
#include <thread>
#include <vector>
__global__ void fill(int* a, int value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = value + i;
}
static int wrong(int value) {
  const int n = 300;
  std::vector<int> host(n);
  int* device = nullptr;
  hipStream_t stream;
  if (hipStreamCreate(&stream) != hipSuccess || hipMalloc(&device, n * sizeof(int)) != hipSuccess) return n;
  fill<<<(n + 63) / 64, 64, 0, stream>>>(device, value, n);
  if (hipMemcpyAsync(host.data(), device, n * sizeof(int), hipMemcpyDeviceToHost, stream) != hipSuccess) return n;
  if (hipStreamSynchronize(stream) != hipSuccess) return n;
  (void)hipFree(device);
  (void)hipStreamDestroy(stream);
  int count = 0;
  for (int i = 0; i < n; i++) count += host[i] != value + i;
  return count;
}
int main() {
  int count = 0;
#pragma omp parallel for num_threads(4) reduction(+ : count)
  for (int i = 0; i < 12; i++) count += wrong(1000 * i);
  std::vector<std::thread> threads;
  std::vector<int> found(4);
  for (int t = 0; t < 4; t++) threads.emplace_back([&found, t] { found[t] = wrong(77 * t); });
  for (auto& each : threads) each.join();
  std::printf("%d %d %d %d %d\n", count, found[0], found[1], found[2], found[3]);
}
"""

MPI = r"""
#include <mpi.h>
#include <cstdio>
#include <cstring>
#include <vector>
static int failures = 0;
#define CHECK(what) do { if (!(what)) { std::printf("line %d: %s\n", __LINE__, #what); failures++; } } while (0)
int main(int argc, char** argv) {
  int provided = -1, rank = -1, size = -1, length = 0, flag = 0, count = 0;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &length);
  CHECK(provided == MPI_THREAD_FUNNELED && rank == 0 && size == 1 && length == (int)std::strlen(name));

  double part[3] = {1, 2, 3}, whole[3] = {0, 0, 0}, more[3] = {0, 0, 0};
  MPI_Allreduce(part, whole, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, whole, 3, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce(whole, more, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Bcast(more, 3, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(std::memcmp(part, whole, sizeof part) == 0 && std::memcmp(part, more, sizeof part) == 0);
  int values[4] = {4, 5, 6, 7}, places[1] = {1}, counts[1] = {2}, gathered[4] = {};
  MPI_Gatherv(values, 2, MPI_INT, gathered, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
  CHECK(gathered[0] == 0 && gathered[1] == 4 && gathered[2] == 5 && gathered[3] == 0);
  MPI_Barrier(MPI_COMM_WORLD);

  // messages to itself, in their order and by their tags
  MPI_Status status;
  MPI_Send(values, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  MPI_Send(values + 1, 3, MPI_INT, 0, 8, MPI_COMM_WORLD);
  MPI_Send(values + 3, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(flag && count == 3 && status.MPI_TAG == 8 && status.MPI_SOURCE == 0);
  int got[3] = {};
  status.MPI_SOURCE = status.MPI_TAG = -9;
  MPI_Recv(got, 3, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
  CHECK(got[0] == 5 && got[2] == 7 && status.MPI_SOURCE == 0 && status.MPI_TAG == 8);
  MPI_Recv(got, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(got + 1, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(got[0] == 4 && got[1] == 7);

  // a halo exchange as programs write it: neighbours of a grid with and without wrapping around
  int sides[2] = {0, 0}, wraps[2] = {1, 0}, left, right;
  MPI_Comm grid;
  MPI_Dims_create(size, 2, sides);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sides, wraps, 0, &grid);
  MPI_Cart_shift(grid, 0, 1, &left, &right);
  CHECK(left == 0 && right == 0);
  MPI_Request requests[2];
  float edge = 2.5f, halo = 0;
  MPI_Irecv(&halo, 1, MPI_FLOAT, left, 1, grid, requests);
  MPI_Isend(&edge, 1, MPI_FLOAT, right, 1, grid, requests + 1);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK(halo == 2.5f && requests[0] == MPI_REQUEST_NULL);
  MPI_Cart_shift(grid, 1, 1, &left, &right);
  CHECK(left == MPI_PROC_NULL && right == MPI_PROC_NULL);
  MPI_Sendrecv(&edge, 1, MPI_FLOAT, right, 2, &halo, 1, MPI_FLOAT, left, 2, grid, &status);
  MPI_Get_count(&status, MPI_FLOAT, &count);
  CHECK(halo == 2.5f && count == 0 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);

  // a column of a matrix, and a structure
  std::vector<int> matrix(12);
  for (int i = 0; i < 12; i++) matrix[i] = i;
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  MPI_Type_commit(&column);
  int packed[3] = {};
  MPI_Sendrecv(&matrix[1], 1, column, 0, 0, packed, 3, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK(packed[0] == 1 && packed[1] == 5 && packed[2] == 9);
  MPI_Type_size(column, &count);
  MPI_Type_free(&column);
  CHECK(count == 12 && column == MPI_DATATYPE_NULL);

  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_size(half, &size);
  CHECK(size == 1 && MPI_Wtime() > 0);
  MPI_Comm_free(&half);
  if (argc > 1) MPI_Send(values, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Finalized(&flag);
  std::printf("%d failures\n", failures + !flag);
}
"""


def said_by(source: str, name: str, options: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (folder / name).write_text(source)
    monkeypatch.chdir(folder)
    assert command.run([name, "-o", "app", *options.split()]) == 0
    environment = {**os.environ, "GPULAB_DEVICES": "gfx942", "GPULAB_LIBRARY": "virtual"}
    done = subprocess.run(["./app"], capture_output=True, text=True, env=environment, timeout=300)
    assert (done.returncode, done.stderr) == (0, ""), done
    return done.stdout


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_project_with_openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    assert (
        said_by(OPENMP, "openmp.hip", f"-fopenmp {level} --offload-arch=gfx942", tmp_path, monkeypatch)
        == "0 failures\n"
    )


SETTINGS = [
    ("OMP_NUM_THREADS=7", "7 1 0"), ("OMP_NUM_THREADS=1", "1 1 0"), ("GPULAB_CORES=1", "1 1 0"),
    ("GPULAB_CORES=1 OMP_NUM_THREADS=3", "3 1 0"), ("OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=3", "3 1 0"),
    ("OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=9", "7 1 0"), ("OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=0", "7 1 0"),
    ("OMP_NUM_THREADS=7 OMP_THREAD_LIMIT=1", "1 1 0"),
    ("OMP_NUM_THREADS=3 OMP_STACKSIZE=1000000G", "3 1 0, another team"),  # no thread is to be had
    ("OMP_NUM_THREADS=4 OMP_SCHEDULE=dynamic", "4 2 0"), ("OMP_NUM_THREADS=4 OMP_SCHEDULE=dynamic,12", "4 2 12"),
    ("OMP_NUM_THREADS=4 OMP_SCHEDULE=guided,7", "4 3 7"), ("OMP_NUM_THREADS=4 OMP_SCHEDULE=static,5", "4 1 5"),
    ("OMP_NUM_THREADS=4 OMP_SCHEDULE=monotonic:dynamic,3", "4 2 3"),
    ("OMP_NUM_THREADS=4 OMP_SCHEDULE=nonmonotonic:guided", "4 3 0"),
]  # fmt: skip
STACKS = {"512": 512, "2048k": 2048, "2048K": 2048, "16M": 16384, "3 m": 3072, "1048576B": 1024, "1048576b": 1024,
          "1G": 1 << 20, "1g": 1 << 20, "1.5M": 1536}  # fmt: skip


def test_project_that_calls_all_of_openmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each call gives; then what the environment sets, and how a region with too many variables ends."""
    source = (Path(__file__).parent / "host_libraries" / "openmp_calls.cpp").read_text(encoding="utf-8")
    options = "-std=c++17 -O0 -fopenmp -pthread"
    assert said_by(source, "calls.cpp", options, tmp_path, monkeypatch) == "0 failures\n"
    ours = ("OMP_NUM_THREADS", "OMP_THREAD_LIMIT", "OMP_SCHEDULE", "OMP_STACKSIZE", "GPULAB_CORES")
    plain = {name: value for name, value in os.environ.items() if name not in ours}

    def run(mode: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["./app", mode], capture_output=True, text=True, timeout=100, env=plain | more)

    cores = len(os.sched_getaffinity(0))
    for words in ("", "OMP_NUM_THREADS=0", "OMP_NUM_THREADS=-2", "GPULAB_CORES=1000", "GPULAB_CORES=0"):
        set_to = dict(word.split("=") for word in words.split())
        assert run("settings", **set_to).stdout == f"{cores} 1 0\n", words
    for words, said in SETTINGS:
        assert run("settings", **dict(word.split("=") for word in words.split())).stdout == f"{said}\n", words
    for text, kilobytes in STACKS.items():
        assert run("stack", OMP_STACKSIZE=text).stdout == f"{kilobytes}\n", text
    assert run("environment", OMP_NUM_THREADS="5").stderr == (
        "OPENMP DISPLAY ENVIRONMENT BEGIN\n  _OPENMP = '202011'\n  OMP_NUM_THREADS = '5'\n"
        "OPENMP DISPLAY ENVIRONMENT END\n"
    )
    done = run("many")
    assert (done.returncode, done.stderr) == (
        -6, "gpulab: a parallel region uses 65 variables of the code around it; 64 can be passed on.\n"
        "Try: put them into a structure.\n",
    )  # fmt: skip


def test_project_with_hip_calls_of_several_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = "-fopenmp -O2 -pthread --offload-arch=gfx942"
    assert said_by(HIP_IN_THREADS, "threads.hip", options, tmp_path, monkeypatch) == "0 0 0 0 0\n"


def test_project_with_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    assert said_by(MPI, "mpi.cpp", "-std=c++17 -lmpi", tmp_path, monkeypatch) == "0 failures\n"
    done = subprocess.run(["./app", "send"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 6  # MPI_ERR_RANK
    assert "MPI_Send: there is no rank 1" in done.stderr
    capfd.readouterr()
    assert tools.main(["mpirun", "-np", "4", "./app"]) == 1
    assert "mpirun -np 4: MPI programs run as one process here" in capfd.readouterr().err
    assert tools.main(["mpicxx", "--showme:link"]) == 0
    assert capfd.readouterr().out == "-lmpi\n"


MPI_CALLS = [
    ("early", 16, "gpulab: MPI_Barrier: it is called before MPI_Init or after MPI_Finalize."),
    ("threads", 0, ""),
    ("abort", 9, "MPI_Abort was called with code 9."),
    ("wait", 16, "gpulab: MPI_Wait: it waits for a message that this process has not sent, and there is no other."),
    ("receive", 16, "gpulab: MPI_Recv: it waits for a message that this process has not sent, and there is no other."),
    ("root", 8, "gpulab: MPI_Bcast: there is no rank 3 as its root."),
    ("long", 15, "gpulab: MPI_Recv: the message is longer than the place for it."),
    ("late", 16, "gpulab: MPI_Barrier: it is called before MPI_Init or after MPI_Finalize."),
]


def test_project_that_calls_all_of_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What each call gives; of those that end the program also what is said and the code."""
    source = (Path(__file__).parent / "host_libraries" / "mpi_calls.cpp").read_text(encoding="utf-8")
    options = "-std=c++17 -O0 -lmpi -pthread"
    assert said_by(source, "calls.cpp", options, tmp_path, monkeypatch) == "0 failures\n"
    for mode, code, said in MPI_CALLS:
        done = subprocess.run(["./app", mode], capture_output=True, text=True, timeout=100)
        assert (done.returncode, done.stderr.partition("\n")[0]) == (code, said), mode
        out = {"threads": "0 failures\n", "late": "0 failures\n", "abort": "said before"}.get(mode, "")
        assert done.stdout == out, mode


ROCTX = r"""
#include <hip/hip_runtime.h>
#include <HEADER>
#include <stdio.h>
int main(void) {
  int levels[6], n = 0;
  hipStream_t stream;
  roctx_range_id_t one = roctxRangeStart("one"), two = roctxRangeStart("two");
  roctxMark("begin");
  levels[n++] = roctxRangePush("a");
  levels[n++] = roctxRangePush("b");
  levels[n++] = roctxRangePop();
  levels[n++] = roctxRangePush("c");
  levels[n++] = roctxRangePop() + roctxRangePop();
  levels[n++] = roctxRangePop();
  roctxRangeStop(two);
  roctxRangeStop(one);
  if (hipStreamCreate(&stream) != hipSuccess) return 1;
  printf("%d %d %d %d %d %d, %d %d\n", levels[0], levels[1], levels[2], levels[3], levels[4], levels[5], one != two,
         roctxNameHipStream("copies", stream));
  return 0;
}
"""


@pytest.mark.parametrize(
    ("header", "name", "libraries"),
    [
        ("roctracer/roctx.h", "main.hip", "-lroctx64 -lroctracer64 -lhsa-runtime64"),
        ("rocprofiler-sdk-roctx/roctx.h", "main.c", "-lrocprofiler-sdk-roctx -lamdhip64"),
        ("roctx.h", "main.cpp", "-lroctx64"),
    ],
)
def test_project_with_roctx(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: str, name: str, libraries: str
) -> None:
    """A nested range's level is 0 for the first; -1 where there is none to end (ROCprofiler-SDK)."""
    text = ROCTX.replace("HEADER", header)
    assert said_by(text, name, libraries, tmp_path, monkeypatch) == "0 1 1 1 1 -1, 1 0\n"
