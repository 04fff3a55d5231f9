// SPDX-License-Identifier: Apache-2.0
// Eight threads that throw and catch C++ exceptions as fast as they can; a watchdog looks that each
// goes on.
//
//   throws SECONDS
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::atomic<unsigned long> rounds[8];
static std::atomic<bool> is_over{false};

struct Guard {
  std::string text = "a string that does not fit in place, so that it is on the heap";
  ~Guard() { text.clear(); }
};

static __attribute__((noinline)) int descend(int depth) {
  Guard guard;
  if (depth == 0) throw std::runtime_error(guard.text);
  return descend(depth - 1) + 1;
}

static void loop(int me) {
  while (!is_over) {
    try {
      descend(16);
    } catch (const std::runtime_error &) {
      rounds[me]++;
    }
  }
}

int main(int, char **argv) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back(loop, i);
  unsigned long before[8] = {};
  for (int second = 0; second < std::atoi(argv[1]); second++) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    for (int i = 0; i < 8; i++) {
      if (second % 5 != 4) continue;
      if (rounds[i] == before[i]) std::printf("thread %d hangs\n", i), std::_Exit(1);
      before[i] = rounds[i];
    }
  }
  is_over = true;
  for (auto &thread : threads) thread.join();
  std::puts("8 threads threw and caught");
}
