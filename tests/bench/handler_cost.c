/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of one timer expiry, in parts: the kernel's delivery of a signal to an empty handler,
   and our handler alone in each collect mode, called directly. For the former, the process queues
   the signal to itself with the code of a timer, so the tick does not limit the rate. The cost
   includes the system call that queues it. Times are this thread's CPU time.

   Each round measures the rows in turn; the figures are medians over the rounds, with the lowest
   and highest. With `callgrind` as first argument our handler is only called directly, so that its
   instructions can be counted: COUNT times, in collect mode MODE, on a stack of DEPTH frames
   including main's. With `misses` the caches are swept before each call, for a simulated cache that
   is smaller than the swept memory. tests/bench/handler_cost.sh prints all. */
#include "preload/control.h"
#include "preload/sampler.h"
#include "preload/thread_slot.h"
#include "ring/histogram_layout.h"
#include "ring/image_table.h"
#include "ring/recorder_format.h"
#include "ring/ring_cost.h"
#include "ring/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL = 61, SIGNALS_A_ROUND = 20000, ROUNDS = 25, DRAIN_EVERY = 8 };
enum { SLOTS = 1, SLOT_BYTES = 8192, STACK_BYTES = 1 << 20, MODES = 4 };
enum { SWEEP_BYTES = 128 << 20, SWEEP_BYTES_COUNTED = 4 << 20, COLD_CALLS = 101 };

static const struct row {
  const char *name;
  enum ring_collect collect;
  int depth; /* 0: a handler that returns at once */
} rows[] = {
    {"queue and deliver, empty handler", RING_STACKS, 0},
    {"our handler, stacks, 1 frame", RING_STACKS, 1},
    {"our handler, stacks, 21 frames", RING_STACKS, 21},
    {"our handler, pc-lr", RING_PC_LR, 1},
    {"our handler, histogram, hit", RING_HISTOGRAM, 1},
    {"our handler, recorder", RING_RECORDER, 1},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct ring_reader readers[MODES];
static struct ring_writer writers[MODES];
static struct ring_reader reader; /* of the measured mode */
static struct thread_slot *thread;
static uint8_t sweep[SWEEP_BYTES];
static size_t sweep_bytes = SWEEP_BYTES;
static double cold[COLD_CALLS];

static const struct ring_terms terms_of_all = {
    .period_ns = 10000000, .unit_ns = 10000000, .signal = SIGNAL};

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void on_signal_empty(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)event;
  (void)context;
}

static void catch_signal(void) {
  struct sigaction action = {.sa_sigaction = on_signal_empty,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigaction(SIGNAL, &action, NULL);
}

static void drain(void) {
  struct ring_view view;
  if (reader.slot_count == 0 || reader.collect == RING_RECORDER) return;
  ring_reader_look(&reader, 0, &view);
  ring_reader_release(&reader, 0, view.head);
}

static siginfo_t expiry(void) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_code = SI_TIMER;
  event.si_value.sival_ptr = thread_slot_token(thread);
  return event;
}

/* Without the kernel: the handler called by hand on this thread's own registers. */
static void call_by_hand(int count) {
  ucontext_t here;
  siginfo_t event = expiry();
  getcontext(&here);
  for (int i = 0; i < count; i++) {
    control_on_signal(SIGNAL, &event, &here);
    if (i % DRAIN_EVERY == 0) drain();
  }
}

/* Not static and not inlined: each level is a frame to walk. */
typedef void leaf(int count);
__attribute__((noinline)) void at_depth(int depth, leaf *then, int count);
__attribute__((noinline)) void at_depth(int depth, leaf *then, int count) {
  if (depth > 1)
    at_depth(depth - 1, then, count);
  else
    then(count);
  __asm__ volatile("" ::: "memory");
}

/* Calls the handler with a stack pointer 8 below a cache line, like the kernel on x86-64. So the
   handler pushes to a line that the kernel has just written. */
static __attribute__((noinline)) void deliver(siginfo_t *event, ucontext_t *here) {
  _Alignas(64) char line[64];
  __asm__ volatile("" : : "r"(line) : "memory");
  control_on_signal(SIGNAL, event, here);
}

/* Single calls after the caches were filled with other data, as in a program with much memory. The
   signal's frame is written last, as the kernel does. Adds each time to COLD. */
static void call_cold(int count) {
  ucontext_t saved, here;
  siginfo_t expired = expiry(), event;
  getcontext(&saved);
  for (int i = 0; i < count && i < COLD_CALLS; i++) {
    drain();
    for (size_t at = 0; at < sweep_bytes; at += 64) sweep[at]++;
    here = saved;
    event = expired;
    uint64_t start = ticks_now();
    deliver(&event, &here);
    cold[i] = (double)(ticks_now() - start);
  }
}

static void send_signals(int count) {
  siginfo_t event = expiry();
  long pid = getpid(), tid = syscall(SYS_gettid);
  for (int i = 0; i < count; i++) {
    syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGNAL, &event);
    if (i % DRAIN_EVERY == 0) drain();
  }
}

static double measure(int depth, leaf *what, int count) {
  double start = now_ns();
  at_depth(depth, what, count);
  return (now_ns() - start) / count;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void choose(enum ring_collect collect) {
  reader = readers[collect];
  sampler_init(&writers[collect]);
  control_init(&terms_of_all, 1, 1);
  thread->ring = NULL;
  thread->pair_bits = 0;
  thread->place = 0;
  for (unsigned i = 0; i < SLOTS && collect != RING_HISTOGRAM; i++)
    ring_reader_free_slot(&reader, i);
}

static void print_row(const char *name, double *costs, int count) {
  qsort(costs, (size_t)count, sizeof *costs, compare);
  printf("%-44s %7.0f ns  [%.0f, %.0f]\n", name, costs[count / 2], costs[0], costs[count - 1]);
}

static void print_cold(const struct row *row, double ns_per_tick) {
  char name[64];
  choose(row->collect);
  at_depth(row->depth, call_cold, COLD_CALLS);
  for (int i = 0; i < COLD_CALLS; i++) cold[i] *= ns_per_tick;
  snprintf(name, sizeof name, "%s, cold", row->name);
  print_row(name, cold, COLD_CALLS);
}

/* Makes this program's own text the histogram's region. */
static void fill_image(void *ring) {
  struct image_table *table = image_table_of(ring);
  uint64_t here = (uint64_t)(uintptr_t)fill_image & ~4095ULL;
  table->module_count = 1;
  table->region_count = 1;
  table->regions[0] = (struct image_region){here - (1 << 20), here + (1 << 20), 0, 0, 0, 0};
}

static void *zeroed(uint64_t size) {
  void *memory = aligned_alloc(4096, ((size_t)size + 4095) / 4096 * 4096);
  if (memory == NULL) abort();
  memset(memory, 0, (size_t)size);
  return memory;
}

static int make_ring(enum ring_collect collect) {
  struct ring_terms terms = terms_of_all;
  struct histogram_shape shape = {0};
  uint64_t size = collect == RING_RECORDER ? recorder_total_bytes(SLOTS, SLOT_BYTES)
                                           : ring_total_bytes(SLOTS, SLOT_BYTES);
  readers[collect] =
      (struct ring_reader){.slot_count = SLOTS, .slot_bytes = SLOT_BYTES, .collect = collect};
  if (collect == RING_HISTOGRAM) {
    histogram_shape_fit(&shape, 2 << 20, 1);
    size = histogram_total_bytes(&shape);
    readers[collect] = (struct ring_reader){.base = zeroed(size), .collect = collect};
    histogram_init(readers[collect].base, &shape, &terms);
    fill_image(readers[collect].base);
  } else {
    readers[collect].base = zeroed(size);
    ring_init(&readers[collect], &terms);
  }
  return ring_writer_init(&writers[collect], &terms, readers[collect].base, size);
}

static int set_up(void) {
  for (unsigned i = 0; i < MODES; i++)
    if (make_ring((enum ring_collect)i) != 0) return -1;
  thread = thread_slot_claim(ring_owner((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)));
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  thread->stack = (struct unwind_stack){.low = here - STACK_BYTES, .high = here + 4096};
  thread->scale = 1;
  memcpy(thread->name, "bench", 6);
  return 0;
}

static int mode_of(const char *name) {
  static const char *const names[MODES] = {"stacks", "pc-lr", "histogram", "recorder"};
  for (int i = 0; i < MODES; i++)
    if (strcmp(name, names[i]) == 0) return i;
  return -1;
}

static int count_calls(char **argv, leaf *what) {
  int mode = mode_of(argv[2]);
  if (mode < 0) return 2;
  choose((enum ring_collect)mode);
  at_depth((int)strtol(argv[3], NULL, 10), what, (int)strtol(argv[1], NULL, 10));
  return 0;
}

int main(int argc, char **argv) {
  static double costs[ROWS][ROUNDS];
  struct ring_cost_clock clock;
  ring_cost_clock_start(&clock);
  if (set_up() != 0) return 1;
  catch_signal();
  if (argc == 5 && strcmp(argv[1], "callgrind") == 0) return count_calls(argv + 1, call_by_hand);
  if (argc == 5 && strcmp(argv[1], "misses") == 0) {
    sweep_bytes = SWEEP_BYTES_COUNTED;
    return count_calls(argv + 1, call_cold);
  }
  for (int round = 0; round < ROUNDS; round++)
    for (unsigned row = 0; row < ROWS; row++) {
      choose(rows[row].collect);
      leaf *what = rows[row].depth == 0 ? send_signals : call_by_hand;
      costs[row][round] = measure(rows[row].depth, what, SIGNALS_A_ROUND);
    }
  for (unsigned row = 0; row < ROWS; row++) print_row(rows[row].name, costs[row], ROUNDS);
  double ns_per_tick = ring_cost_ns_per_tick(&clock);
  for (unsigned row = 1; row < ROWS && ns_per_tick > 0; row++) print_cold(&rows[row], ns_per_tick);
  return 0;
}
