/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel does not report the cost of its samples. So the same short loop is timed with and
   without an event that samples it at 20 kHz. The difference is divided by the number of samples.
   The clock is wall time, because some kernels charge interrupt time to no process. Interrupts and
   other programs only make a try longer. So the shortest loop and the cheapest sample are the true
   ones, among tries in which this thread kept its CPU.

   A signal is timed as a round trip: sent to the own thread, taken by an empty handler, returned
   from. That includes the cost of sending it by system call, about that of the timer's expiry. */
#include "sample_cost.h"
#include "perf_ring.h"

#include "common/clock.h"
#include "intake/perf_attr.h"

#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  TRIES = 3,
  TRIES_MAX = 12, /* if others take the CPU */
  LOOPS = 100000, /* about 0.2 ms, six samples: each run of a program starts with this */
  PERIOD_NS = 50000,
  RING_PAGES = 8,  /* 32 KiB: hundreds of samples */
  GUESS_NS = 5000, /* if the measurement fails */
  SIGNALS = 64,
  SIGNAL_BELOW_MAX = 5,
};

/* One sampled loop. */
struct try {
  uint64_t ns, samples;
};

static volatile uint64_t sink;

/* One loop at one address: a copy of it elsewhere in the code may be a third slower or faster. */
__attribute__((noinline, noclone)) static uint64_t time_loop(void) {
  uint64_t start = clock_monotonic_ns(), x = start | 1;
  for (unsigned i = 0; i < LOOPS; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  sink = x;
  return clock_monotonic_ns() - start;
}

static uint64_t least(uint64_t a, uint64_t b) {
  return a < b ? a : b;
}

/* The number of bytes that the event has written, and in RET_ONE the size of a sample: all are of
   the same loop. */
static uint64_t written(const struct perf_event_mmap_page *page, const uint8_t *data,
                        uint64_t *ret_one) {
  struct perf_event_header first;
  uint64_t head = *(const volatile __u64 *)&page->data_head; /* the event is disabled by now */
  memcpy(&first, data, sizeof first);
  *ret_one = head > 0 && first.type == PERF_RECORD_SAMPLE ? first.size : 0;
  return head;
}

/* The number of times that this thread was preempted. */
static long preemptions(void) {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* The cost of each sample of SAMPLED, relative to a plain loop, or UINT64_MAX. */
static uint64_t each_ns(const struct try *sampled, uint64_t plain_ns) {
  if (sampled->samples == 0 || sampled->ns <= plain_ns) return UINT64_MAX;
  return (sampled->ns - plain_ns) / sampled->samples;
}

static uint64_t measure_event(int fd) {
  size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = (1 + RING_PAGES) * page_bytes;
  struct try sampled[TRIES];
  uint64_t plain_ns = UINT64_MAX, best_ns = UINT64_MAX, head = 0;
  unsigned good = 0;
  void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (map == MAP_FAILED) return GUESS_NS;
  for (unsigned tries = 0; tries < TRIES_MAX && good < TRIES; tries++) {
    long before = preemptions();
    uint64_t one_ns = time_loop(), one_bytes, head_before = head;
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    sampled[good].ns = time_loop();
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    head = written(map, (const uint8_t *)map + page_bytes, &one_bytes);
    sampled[good].samples = one_bytes > 0 ? (head - head_before) / one_bytes : 0;
    if (preemptions() != before) continue;
    plain_ns = least(plain_ns, one_ns);
    good++;
  }
  munmap(map, bytes);
  for (unsigned i = 0; i < good; i++) best_ns = least(best_ns, each_ns(&sampled[i], plain_ns));
  return best_ns != UINT64_MAX ? best_ns : GUESS_NS;
}

static uint64_t measure_perf(void) {
  struct perf_event_attr attr;
  perf_attr_fill_anchor(&attr);
  attr.sample_period = PERIOD_NS;
  int fd = perf_attr_open(&attr, 0, -1);
  if (fd < 0) return 0;
  uint64_t ns = measure_event(fd);
  close(fd);
  return ns;
}

static void on_signal(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)event;
  (void)context;
}

static uint64_t measure_signal(void) {
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART}, old;
  int signal = SIGRTMAX - SIGNAL_BELOW_MAX;
  uint64_t best = UINT64_MAX;
  sigfillset(&ours.sa_mask);
  if (sigaction(signal, &ours, &old) != 0) return 0;
  for (unsigned i = 0; i < TRIES; i++) {
    uint64_t start = clock_monotonic_ns();
    for (unsigned n = 0; n < SIGNALS; n++)
      syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), signal);
    best = least(best, (clock_monotonic_ns() - start) / SIGNALS);
  }
  sigaction(signal, &old, NULL);
  return best;
}

void sample_cost_measure(struct sample_cost *ret) {
  ret->perf_ns = measure_perf();
  ret->signal_ns = measure_signal();
}
