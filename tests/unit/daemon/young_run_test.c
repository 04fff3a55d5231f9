/* SPDX-License-Identifier: Apache-2.0 */
/* In the first moments of a run the worker checks more often: a launcher executes another program
   at once, and a short one ends within a full step. */
#include "ladder_fixture.h"

#include "common/clock.h"
#include "daemon/run_note.h"

static uint64_t now_ns = 1000 * NS_PER_SECOND; /* this test's clock */

uint64_t __wrap_clock_monotonic_ns(void);

uint64_t __wrap_clock_monotonic_ns(void) {
  return now_ns;
}

static void begin_run(void) {
  bench->worker.notes[0] = (struct worker_note){.serial = 1, .begun_ns = now_ns};
}

/* No full step is due meanwhile. */
static void look_after(uint64_t ms) {
  now_ns += ms * NS_PER_MS;
  bench->worker.stepped_ns = now_ns;
  ladder_step(&bench->worker);
}

/* Two checks are needed to detect that an exec has replaced the program. */
static void a_young_run_is_looked_at_each_tenth_of_a_second(void **state) {
  (void)state;
  if (bench->keeper.perf.count == 0) skip();
  struct target *ring = begin_ring(bench->program, 0, RING_RUN);
  ring->look.exe_inode++; /* another file registered */
  begin_run();
  look_after(300);
  assert_false(ring->look.is_replaced); /* it is no longer young: no check was made */
  begin_run();
  look_after(100);
  assert_true(ring->look.is_replaced);
  look_after(99);
  assert_null(perf_of(bench->program));
  look_after(1);
  assert_non_null(perf_of(bench->program));
}

static void a_young_run_ticks_each_twenty_ms(void **state) {
  (void)state;
  struct worker *worker = &bench->worker;
  begin_ring(bench->program, 0, RING_RUN);
  worker->busy_ns = now_ns;
  assert_int_equal(worker_tick_ms(worker, now_ns), 100);
  begin_run();
  assert_int_equal(worker_tick_ms(worker, now_ns), 20);
  assert_int_equal(worker_tick_ms(worker, now_ns + RUN_NOTE_YOUNG_NS - 1), 20);
  assert_int_equal(worker_tick_ms(worker, now_ns + RUN_NOTE_YOUNG_NS), 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_young_run_is_looked_at_each_tenth_of_a_second, ladder_make,
                                      ladder_unmake),
      cmocka_unit_test_setup_teardown(a_young_run_ticks_each_twenty_ms, ladder_make, ladder_unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
