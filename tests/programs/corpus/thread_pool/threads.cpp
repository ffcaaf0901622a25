// std::thread workers with a stream each take jobs from a queue; results come back through futures
#include <hip/hip_runtime.h>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <iostream>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

static void check(hipError_t e) { if (e != hipSuccess) throw std::runtime_error(hipGetErrorString(e)); }

__global__ void collatz(std::uint32_t first, std::uint32_t count, std::uint32_t* steps) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  std::uint64_t v = first + i;
  std::uint32_t s = 0;
  while (v != 1) { v = v & 1 ? 3 * v + 1 : v >> 1; ++s; }
  steps[i] = s;
}

class Pool {
 public:
  explicit Pool(unsigned n) {
    for (unsigned i = 0; i < n; ++i) workers_.emplace_back([this] { run(); });
  }
  ~Pool() {
    { std::lock_guard lock(mutex_); stop_ = true; }
    wake_.notify_all();
    for (auto& w : workers_) w.join();
  }
  std::future<std::vector<std::uint32_t>> submit(std::uint32_t first, std::uint32_t count) {
    std::packaged_task<std::vector<std::uint32_t>(hipStream_t)> task([=](hipStream_t stream) {
      std::uint32_t *device, *pinned;
      check(hipMalloc(&device, count * sizeof(std::uint32_t)));
      check(hipHostMalloc(&pinned, count * sizeof(std::uint32_t)));
      collatz<<<(count + 127) / 128, 128, 0, stream>>>(first, count, device);
      check(hipGetLastError());
      check(hipMemcpyAsync(pinned, device, count * sizeof(std::uint32_t), hipMemcpyDeviceToHost, stream));
      check(hipStreamSynchronize(stream));
      std::vector<std::uint32_t> result(pinned, pinned + count);
      check(hipFree(device));
      check(hipHostFree(pinned));
      return result;
    });
    auto future = task.get_future();
    { std::lock_guard lock(mutex_); tasks_.push_back(std::move(task)); }
    wake_.notify_one();
    return future;
  }
  int finished() const { return finished_; }

 private:
  void run() {
    check(hipSetDevice(0));
    hipStream_t stream;
    check(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) break;
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task(stream);
      ++finished_;
    }
    check(hipStreamDestroy(stream));
  }
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<std::vector<std::uint32_t>(hipStream_t)>> tasks_;
  std::vector<std::thread> workers_;
  std::atomic<int> finished_{0};
  bool stop_ = false;
};

int main(int argc, char** argv) {
  const unsigned jobs = argc > 1 ? std::stoul(argv[1]) : 12, count = 500;
  std::uint64_t total = 0, want = 0;
  int wrong = 0;
  {
    Pool pool(3);
    std::vector<std::future<std::vector<std::uint32_t>>> futures;
    for (unsigned j = 0; j < jobs; ++j) futures.push_back(pool.submit(1 + j * count, count));
    for (unsigned j = 0; j < jobs; ++j) {
      const auto steps = futures[j].get();
      total += std::accumulate(steps.begin(), steps.end(), std::uint64_t(0));
      for (unsigned i = 0; i < count; ++i) {
        std::uint64_t v = 1 + j * count + i;
        std::uint32_t s = 0;
        for (; v != 1; ++s) v = v % 2 ? 3 * v + 1 : v / 2;
        want += s;
        wrong += s != steps[i];
      }
    }
  }
  std::cout << jobs << " jobs on 3 threads: " << total << " steps (" << want << "), " << wrong << " wrong\n";
  const bool good = wrong == 0 && total == want;
  std::cout << (good ? "PASSED" : "FAILED") << std::endl;
  return good ? 0 : 1;
}
