/* SPDX-License-Identifier: Apache-2.0 */
/* The handler in the collect modes that are not stacks, and its own measurement. */
#include "preload/arch.h"
#include "preload/cost_setup.h"
#include "preload/sampler.h"
#include "preload/thread_slot.h"
#include "ring/histogram_layout.h"
#include "ring/histogram_reader.h"
#include "ring/recorder_reader.h"
#include "ring/ring_cost.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <cmocka.h>

enum { SIGNAL = 61, PID = 77, VALUES = 6 };

static struct ring_reader daemon_side;
static struct ring_writer target_side;
static uint64_t size;
static struct thread_slot *thread;

static void begin(enum ring_collect collect, uint32_t slot_bytes) {
  struct ring_terms terms = {.period_ns = 10000000, .signal = SIGNAL};
  uint32_t slots = collect == RING_HISTOGRAM ? 0 : 1;
  struct histogram_shape shape = {.counter_bytes = 1};
  histogram_shape_fit(&shape, 1 << 20, 1);
  size = ring_total_bytes(slots, slot_bytes);
  if (collect == RING_RECORDER) size = recorder_total_bytes(slots, slot_bytes);
  if (collect == RING_HISTOGRAM) size = histogram_total_bytes(&shape);
  daemon_side = (struct ring_reader){.base = calloc(1, size),
                                     .slot_count = slots,
                                     .slot_bytes = slots ? slot_bytes : 0,
                                     .collect = collect};
  if (collect == RING_HISTOGRAM)
    histogram_init(daemon_side.base, &shape, &terms);
  else
    ring_init(&daemon_side, &terms);
  assert_int_equal(ring_writer_init(&target_side, &terms, daemon_side.base, size), 0);
  sampler_init(&target_side);
  static uint32_t tid = 1;
  thread = thread_slot_claim(ring_owner(PID, tid++));
  assert_non_null(thread);
  thread->stack = (struct unwind_stack){.low = 0};
}

static int teardown(void **state) {
  (void)state;
  thread_slot_release(thread);
  free(daemon_side.base);
  return 0;
}

/* The interrupted registers, as this machine's context holds them. */
static ucontext_t here;

static void deliver(int overrun) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_code = SI_TIMER;
  event.si_overrun = overrun;
  event.si_value.sival_ptr = thread_slot_token(thread);
  sampler_on_signal(SIGNAL, &event, &here);
}

static struct unwind_registers registers(void) {
  struct unwind_registers at;
  getcontext(&here);
  arch_read(&here, &at);
  return at;
}

/* All pairs of slot 0. */
static unsigned pairs(struct ring_sample *ret, unsigned room) {
  struct ring_view view;
  uint8_t bytes[RING_SLOT_BYTES_MIN];
  unsigned count = 0;
  ring_reader_look(&daemon_side, 0, &view);
  assert_false(view.is_broken);
  size_t len = ring_reader_copy(&daemon_side, 0, &view, bytes);
  for (size_t at = 0; at < len && count < room; count++) {
    long taken = ring_pair_decode(bytes + at, len - at, &ret[count]);
    assert_int_equal(taken, sizeof(struct ring_pair));
    at += (size_t)taken;
  }
  return count;
}

static void a_pair_holds_pc_and_weight(void **state) {
  (void)state;
  struct ring_sample sample;
  begin(RING_PC_LR, RING_SLOT_BYTES_MIN);
  struct unwind_registers at = registers();
  deliver(4);
  assert_int_equal(pairs(&sample, 1), 1);
  assert_int_equal(sample.pc[0], at.pc);
  assert_int_equal(sample.weight, 5);
  if (!unwind_arch.has_lr) assert_int_equal(sample.depth, 1); /* the stack is unknown */
}

static void without_a_link_register_the_word_at_the_stack_pointer_comes(void **state) {
  (void)state;
  _Alignas(8) uintptr_t words[4] = {0x1234, 0x5678, 0, 0};
  uintptr_t sp = (uintptr_t)words, end = (uintptr_t)&words[4];
  struct unwind_registers at = {.sp = sp};
  const struct unwind_stack whole = {.low = sp - 4096, .high = end};
  if (unwind_arch.has_lr) skip();
  assert_int_equal(unwind_link(&at, &whole), 0x1234);
  at.sp = (uintptr_t)&words[1];
  assert_int_equal(unwind_link(&at, &whole), 0x5678);
  at.lr = 0x9abc;
  assert_int_equal(unwind_link(&at, &whole), unwind_arch.has_lr ? 0x9abc : 0x5678);
}

static void a_word_beyond_the_stack_is_not_read(void **state) {
  (void)state;
  _Alignas(8) uintptr_t words[2] = {0x1234, 0x5678};
  struct unwind_registers at = {.sp = (uintptr_t)words};
  const struct unwind_stack stacks[] = {{0, 0, 0},
                                        {at.sp + 8, at.sp + 16, 0},
                                        {0, at.sp, 0},
                                        {0, at.sp + 7, 0},
                                        {at.sp - 64, at.sp + 1, 0}};
  for (unsigned i = 0; i < sizeof stacks / sizeof *stacks; i++)
    assert_int_equal(unwind_link(&at, &stacks[i]), 0);
  const struct unwind_stack whole = {.low = at.sp, .high = at.sp + 16};
  at.sp++;
  assert_int_equal(unwind_link(&at, &whole), 0);
}

static void a_weight_beyond_one_pair_takes_several(void **state) {
  (void)state;
  struct ring_sample samples[8];
  begin(RING_PC_LR, RING_SLOT_BYTES_MIN);
  registers();
  thread->scale = 10000;
  deliver(19);
  unsigned count = pairs(samples, 8);
  uint64_t weight = 0;
  for (unsigned i = 0; i < count; i++) weight += samples[i].weight;
  assert_int_equal(count, 4);
  assert_int_equal(weight, 200000);
  for (unsigned i = 1; i < count; i++) assert_int_equal(samples[i].pc[0], samples[0].pc[0]);
}

static void pairs_that_find_no_room_are_counted(void **state) {
  (void)state;
  begin(RING_PC_LR, RING_SLOT_BYTES_MIN);
  registers();
  unsigned room = RING_SLOT_BYTES_MIN / sizeof(struct ring_pair);
  for (unsigned i = 0; i < room + 3; i++) deliver(0);
  struct ring_view view;
  ring_reader_look(&daemon_side, 0, &view);
  assert_int_equal(view.head, RING_SLOT_BYTES_MIN);
  assert_int_equal(view.dropped_full, 3);
  ring_reader_release(&daemon_side, 0, view.head);
  thread->scale = UINT32_MAX; /* 65 537 pairs */
  deliver(0);
  ring_reader_look(&daemon_side, 0, &view);
  assert_int_equal(view.head - view.tail, RING_SLOT_BYTES_MIN);
  assert_int_equal(view.dropped_full, 4);
}

static void a_recorder_keeps_the_last_values(void **state) {
  (void)state;
  static struct recorder_reader recorder;
  uint64_t words[VALUES + 2];
  struct recorder_log log;
  begin(RING_RECORDER, recorder_slot_bytes(VALUES));
  struct unwind_registers at = registers();
  for (int i = 0; i < 20; i++) deliver(i);
  assert_int_equal(recorder_reader_open(&recorder, daemon_side.base, size, false), 0);
  assert_int_equal(recorder_reader_log(&recorder, 0, words, &log), 0);
  assert_int_equal(log.written, 20);
  assert_true(log.was_overwritten);
  assert_true(log.count >= VALUES);
  for (uint32_t i = 0; i < log.count; i++) {
    struct recorder_value value = recorder_log_value(&log, words, i);
    assert_int_equal(value.pc, at.pc);
    assert_int_equal(value.weight, 20 - log.count + 1 + i);
  }
  thread->scale = 70000;
  deliver(0);
  assert_int_equal(recorder_reader_log(&recorder, 0, words, &log), 0);
  assert_int_equal(recorder_log_value(&log, words, log.count - 1).weight, RING_PAIR_WEIGHT_MAX);
  assert_int_equal(log.dropped, 70000 - RING_PAIR_WEIGHT_MAX);
}

static void a_recorder_keeps_what_came_before_the_handler_of_a_crash(void **state) {
  (void)state;
  static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  static struct recorder_reader recorder;
  uint64_t words[VALUES + 2];
  struct recorder_log log;
  begin(RING_RECORDER, recorder_slot_bytes(VALUES));
  registers();
  sigemptyset(&here.uc_sigmask);
  sigaddset(&here.uc_sigmask, SIGUSR1);
  for (int i = 0; i < 3; i++) deliver(0);
  for (unsigned i = 0; i < sizeof fatal / sizeof *fatal; i++) {
    sigemptyset(&here.uc_sigmask);
    sigaddset(&here.uc_sigmask, fatal[i]);
    for (int j = 0; j < 2 * VALUES; j++) deliver(0);
  }
  assert_int_equal(recorder_reader_open(&recorder, daemon_side.base, size, false), 0);
  assert_int_equal(recorder_reader_log(&recorder, 0, words, &log), 0);
  assert_int_equal(log.written, 3);
  assert_int_equal(log.count, 3);
  assert_int_equal(log.dropped, 5 * 2 * VALUES);
  sigemptyset(&here.uc_sigmask);
}

static void a_histogram_needs_no_slot(void **state) {
  (void)state;
  static struct histogram_reader histogram;
  struct histogram_cursor cursor = {0};
  struct histogram_totals totals;
  struct histogram_bin bin;
  begin(RING_HISTOGRAM, 0);
  struct unwind_registers at = registers();
  struct image_table *table = image_table_of(daemon_side.base);
  uint64_t page = at.pc & ~4095ULL;
  table->module_count = 1;
  table->region_count = 1;
  table->regions[0] = (struct image_region){page, page + 4096, 0x3000, 0, 0, 0};
  deliver(2);
  thread->busy = 1;
  deliver(4);
  thread->busy = 0;
  assert_int_equal(histogram_reader_open(&histogram, daemon_side.base, size, false), 0);
  assert_true(histogram_reader_next(&histogram, &cursor, &bin));
  assert_int_equal(bin.count, 1);
  assert_int_equal(bin.address, 0x3000 + ((at.pc - page) & ~15ULL));
  histogram_reader_totals(&histogram, &totals);
  assert_int_equal(totals.samples, 2);
  assert_int_equal(totals.units, 8);
  assert_int_equal(totals.contended, 1);
  assert_int_equal(ring_reader_unsampled(&daemon_side), 0);
}

static struct ring_header *header(void) {
  return (struct ring_header *)(void *)daemon_side.base;
}

/* All of the ring but for the figures themselves is as it was. */
static void measure_and_compare(void) {
  struct ring_cost cost;
  uint8_t *before = malloc(size);
  memcpy(before, daemon_side.base, size);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &cost), -ENODATA);
  cost_setup(&target_side);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &cost), 0);
  assert_true(cost.runs >= 4);
  assert_true(cost.p50_ns > 0 && cost.p50_ns <= cost.p99_ns);
  header()->cost_unit = header()->cost_runs = header()->cost_p50 = header()->cost_p99 = 0;
  assert_memory_equal(before, daemon_side.base, size);
  assert_ptr_equal(sampler_ring()->base, daemon_side.base);
  assert_null(thread_slot_of(arch_thread_pointer()));
  free(before);
}

static void the_handler_is_timed_in_each_mode_and_leaves_no_trace(void **state) {
  (void)state;
  static const struct {
    enum ring_collect collect;
    uint32_t slot_bytes;
  } modes[] = {{RING_STACKS, RING_SLOT_BYTES_MIN},
               {RING_PC_LR, RING_SLOT_BYTES_MIN},
               {RING_RECORDER, RECORDER_SLOT_BYTES_MIN},
               {RING_HISTOGRAM, 0}};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
    begin(modes[i].collect, modes[i].slot_bytes);
    measure_and_compare();
    target_side.clock = RING_CLOCK_PROF;
    measure_and_compare();
    header()->control = RING_PAUSE; /* dormant */
    measure_and_compare();
    teardown(NULL);
  }
  begin(RING_STACKS, RING_SLOT_BYTES_MIN);
}

static void what_is_timed_is_a_whole_sample_of_a_deep_stack(void **state) {
  (void)state;
  struct ring_cost stacks, pairs;
  begin(RING_PC_LR, RING_SLOT_BYTES_MIN);
  cost_setup(&target_side);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &pairs), 0);
  teardown(NULL);
  begin(RING_STACKS, RING_SLOT_BYTES_MIN);
  clock_t start = clock();
  cost_setup(&target_side);
  print_message("%ld us of CPU time; ", (long)(clock() - start) * 1000000 / CLOCKS_PER_SEC);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &stacks), 0);
  print_message("median: %u with 16 callers, %u of a pair; 99 %%: %u, %u\n",
                (unsigned)stacks.p50_ns, (unsigned)pairs.p50_ns, (unsigned)stacks.p99_ns,
                (unsigned)pairs.p99_ns);
}

static void the_handler_itself_times_nothing(void **state) {
  (void)state;
  struct ring_cost before, after;
  begin(RING_STACKS, RING_SLOT_BYTES_MIN);
  registers();
  cost_setup(&target_side);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &before), 0);
  for (int i = 0; i < 5; i++) deliver(0);
  assert_int_equal(ring_cost_read(&daemon_side, 1, &after), 0);
  assert_memory_equal(&before, &after, sizeof before);
}

#define CLAIM(test) cmocka_unit_test_teardown(test, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(the_handler_is_timed_in_each_mode_and_leaves_no_trace),
      CLAIM(what_is_timed_is_a_whole_sample_of_a_deep_stack),
      CLAIM(the_handler_itself_times_nothing),
      CLAIM(a_pair_holds_pc_and_weight),
      cmocka_unit_test(without_a_link_register_the_word_at_the_stack_pointer_comes),
      cmocka_unit_test(a_word_beyond_the_stack_is_not_read),
      CLAIM(a_weight_beyond_one_pair_takes_several),
      CLAIM(pairs_that_find_no_room_are_counted),
      CLAIM(a_recorder_keeps_the_last_values),
      CLAIM(a_recorder_keeps_what_came_before_the_handler_of_a_crash),
      CLAIM(a_histogram_needs_no_slot),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
