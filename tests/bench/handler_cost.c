/* SPDX-License-Identifier: Apache-2.0 */
/* What one expiry costs, taken apart: the kernel's delivery of a signal to a handler that returns
   at once, and the same with our handler on shallow and deeper stacks.  The process queues the
   signal to itself with the code of a timer, so the rate is not limited by the tick.  The system
   call that queues is part of all three and cancels.

   Each round measures the kinds in turn; the figures are medians over the rounds with the lowest
   and highest beside them.  With `callgrind` as first argument our handler is only called by hand,
   so that its instructions can be counted: COUNT times, on a stack of DEPTH frames and main's two.

     valgrind --tool=callgrind --toggle-collect=sampler_on_signal handler_cost callgrind 1000 20 */
#include "preload/sampler.h"
#include "preload/thread_slot.h"
#include "ring/ring_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { SIGNAL = 61, SIGNALS_A_ROUND = 20000, ROUNDS = 25, KINDS = 3, DRAIN_EVERY = 8 };
enum { SLOTS = 1, SLOT_BYTES = 8192, STACK_BYTES = 1 << 20 };

static struct ring_reader reader;
static struct thread_slot *thread;

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void on_signal_empty(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)event;
  (void)context;
}

static void catch_with(void (*handler)(int, siginfo_t *, void *)) {
  struct sigaction action = {.sa_sigaction = handler,
                             .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  sigaction(SIGNAL, &action, NULL);
}

static void drain(void) {
  struct ring_view view;
  ring_reader_look(&reader, 0, &view);
  ring_reader_release(&reader, 0, view.head);
}

/* Without the kernel: the handler called by hand on this thread's own registers. */
static void call_by_hand(int count) {
  ucontext_t here;
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_code = SI_TIMER;
  event.si_value.sival_ptr = thread_slot_token(thread);
  getcontext(&here);
  for (int i = 0; i < count; i++) {
    sampler_on_signal(SIGNAL, &event, &here);
    drain();
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

static void send_signals(int count) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_code = SI_TIMER;
  event.si_value.sival_ptr = thread_slot_token(thread);
  long pid = getpid(), tid = syscall(SYS_gettid);
  for (int i = 0; i < count; i++) {
    syscall(SYS_rt_tgsigqueueinfo, pid, tid, SIGNAL, &event);
    if (i % DRAIN_EVERY == 0) drain();
  }
}

static double measure(int depth, int count) {
  double start = now_ns();
  at_depth(depth, send_signals, count);
  return (now_ns() - start) / count;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_row(const char *name, double *costs) {
  qsort(costs, ROUNDS, sizeof *costs, compare);
  printf("%-34s %7.0f ns  [%.0f, %.0f]\n", name, costs[ROUNDS / 2], costs[0], costs[ROUNDS - 1]);
}

static int set_up(void) {
  struct ring_writer writer;
  struct ring_terms terms;
  size_t size = ring_total_bytes(SLOTS, SLOT_BYTES);
  reader = (struct ring_reader){
      .base = aligned_alloc(4096, (size + 4095) / 4096 * 4096), SLOTS, SLOT_BYTES};
  if (reader.base == NULL) return -1;
  memset(reader.base, 0, size);
  ring_init(&reader, &(struct ring_terms){.period_ns = 10000000, .signal = SIGNAL});
  if (ring_writer_init(&writer, &terms, reader.base, size) != 0) return -1;
  sampler_init(&writer);
  thread = thread_slot_claim(ring_owner((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)));
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  thread->stack = (struct unwind_stack){here - STACK_BYTES, here + 4096};
  memcpy(thread->name, "bench", 6);
  return 0;
}

int main(int argc, char **argv) {
  static double costs[KINDS][ROUNDS];
  if (set_up() != 0) return 1;
  catch_with(sampler_on_signal);
  if (argc > 2 && strcmp(argv[1], "callgrind") == 0) {
    at_depth(argc > 3 ? (int)strtol(argv[3], NULL, 10) : 20, call_by_hand,
             (int)strtol(argv[2], NULL, 10));
    return 0;
  }
  for (int round = 0; round < ROUNDS; round++) {
    catch_with(on_signal_empty);
    costs[0][round] = measure(20, SIGNALS_A_ROUND);
    catch_with(sampler_on_signal);
    costs[1][round] = measure(1, SIGNALS_A_ROUND);
    costs[2][round] = measure(20, SIGNALS_A_ROUND);
  }
  print_row("queue and deliver, empty handler", costs[0]);
  print_row("the same, our handler, shallow", costs[1]);
  print_row("the same, our handler, 20 deeper", costs[2]);
  return 0;
}
