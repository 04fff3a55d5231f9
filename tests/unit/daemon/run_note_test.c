/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a run whose program started another that no sampler reaches. */
#include "ladder_fixture.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "daemon/run_note.h"
#include "proc/proc_stat.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"

#include <signal.h>

#define WHY "perf: no right"

/* A run by timer, whose program has a ring. */
struct run {
  pid_t program, child;
  struct target *target;
  struct worker_note *note;
};

static struct run begin(void) {
  struct run run;
  struct proc_stat stat;
  run.program = program_start_two(&run.child);
  run.target = begin_ring(run.program, 0, RING_RUN);
  run.note = &bench->worker.notes[0];
  assert_int_equal(proc_stat_read(run.program, &stat), 0);
  *run.note = (struct worker_note){.serial = 1,
                                   .pid = run.program,
                                   .target = run.target->held.id,
                                   .start_ticks = stat.start_ticks,
                                   .begun_ns = clock_monotonic_ns(),
                                   .sampler = "timer",
                                   .why = WHY};
  memcpy(run.target->held.why, run.note->why, sizeof run.note->why);
  run.target->run = run.note->serial;
  return run;
}

static void end(const struct run *run) {
  program_end(run->program);
  kill(run->child, SIGKILL);
}

static const struct hold_target *held_by_keeper(uint32_t id) {
  for (unsigned i = 0; i < HOLD_TARGETS_MAX; i++) {
    const struct hold_entry *entry = bench->keeper.held.entries[i];
    if (entry != NULL && entry->target.id == id) return &entry->target;
  }
  fail_msg("the keeper does not hold target %u", (unsigned)id);
  return NULL;
}

static void a_refused_child_is_said_beside_why_its_run_goes_by_timer(void **state) {
  static const char wanted[] = "not sampled: a program that it started: timer: no room; " WHY;
  (void)state;
  struct run run = begin();
  for (unsigned i = 0; i < 3; i++) run_note_refuse(&bench->worker, run.child, "timer: no room");
  assert_string_equal(run.target->held.why, wanted);
  assert_string_equal(run.note->why, wanted);
  assert_string_equal(held_by_keeper(run.target->held.id)->why, wanted);
  end(&run);
}

static void the_newest_of_many_reasons_comes_first_and_the_oldest_is_cut(void **state) {
  char why[64];
  (void)state;
  struct run run = begin();
  for (unsigned i = 0; i < 40; i++) {
    snprintf(why, sizeof why, "timer: reason %u", i);
    run_note_refuse(&bench->worker, run.child, why);
  }
  const char first[] = "not sampled: a program that it started: timer: reason 39; not sampled: ";
  assert_memory_equal(run.target->held.why, first, sizeof first - 1);
  assert_int_equal(strlen(run.target->held.why), INTAKE_WHY_BYTES - 1);
  end(&run);
}

/* Closes a window, and returns the marks of all targets in it. */
static uint32_t close_window(void) {
  struct spool_item item;
  struct batch batch;
  struct arena arena;
  struct buf raw = {0};
  char why[128] = "";
  uint32_t marks = 0;
  assert_int_equal(shipper_close_window(&bench->worker.shipper, false), 0);
  assert_int_equal(spool_next(bench->worker.spool, &item), 0);
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(decompress(item.zstd, item.raw_len, LIMIT_BATCH_RAW_BYTES, &raw), 0);
  assert_int_equal(batch_decode(buf_span(&raw), &arena, &batch, why, sizeof why), 0);
  assert_true(batch.target_count > 0);
  for (uint32_t i = 0; i < batch.target_count; i++) marks |= batch.targets[i].marks;
  spool_ack(bench->worker.spool, item.run, item.seq);
  arena_fini(&arena);
  buf_fini(&raw);
  return marks;
}

static void a_window_has_the_mark_only_where_a_child_was_refused_in_it(void **state) {
  (void)state;
  struct run run = begin();
  run_note_refuse(&bench->worker, run.child, "timer: no room");
  drain_rest(&bench->worker.drain, run.target, NS_PER_SECOND);
  assert_true((close_window() & MARK_UNREACHED) != 0);
  drain_rest(&bench->worker.drain, run.target, NS_PER_SECOND);
  assert_true((close_window() & MARK_UNREACHED) == 0);
  end(&run);
}

static void the_window_with_the_rest_of_such_a_run_has_the_mark_again(void **state) {
  (void)state;
  struct run run = begin();
  run_note_refuse(&bench->worker, run.child, "timer: no room");
  drain_rest(&bench->worker.drain, run.target, NS_PER_SECOND);
  close_window();
  run_note_tell(&bench->worker, run.note, 100 * NS_PER_SECOND);
  assert_true((close_window() & MARK_UNREACHED) != 0);
  end(&run);
}

static void refuse(uint64_t records) {
  counter_page_drop(bench->keeper.page, LOSS_QUOTA, records);
}

static void assert_refused(const struct run_books *before, uint64_t samples, bool are_all,
                           const char *wanted) {
  char why[INTAKE_WHY_BYTES];
  assert_int_equal(run_note_refused(&bench->worker, before, samples, why), are_all);
  if (wanted[0] == '\0')
    assert_string_equal(why, "");
  else
    assert_non_null(strstr(why, wanted));
}

static void a_run_is_lost_only_where_the_refused_records_are_known_to_be_its_own(void **state) {
  (void)state;
  struct counter_page *page = bench->keeper.page;
  struct run_books begun = {.shipped = 0};
  counter_page_ship(page, 100);
  assert_refused(&begun, 100, false, "");
  refuse(40); /* no other program has records */
  assert_refused(&begun, 100, false, "but for 40 records that the collector refused for good");
  refuse(60);
  assert_refused(&begun, 100, true, "the collector refused them for good");
  begun = (struct run_books){.shipped = 100, .refused = 100};
  counter_page_ship(page, 1000); /* 100 of them are the run's */
  refuse(900);
  assert_refused(&begun, 100, false, "refused 900 records of this board meanwhile");
  refuse(100);
  assert_refused(&begun, 100, true, "the collector refused them for good");
  begun.had_others = true; /* what was refused may be older than the run */
  assert_refused(&begun, 100, false, "refused 1000 records of this board meanwhile");
  begun = (struct run_books){.shipped = 1100, .refused = 1100};
  assert_refused(&begun, 0, false, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, ladder_make, ladder_unmake)
      TEST(a_refused_child_is_said_beside_why_its_run_goes_by_timer),
      TEST(a_window_has_the_mark_only_where_a_child_was_refused_in_it),
      TEST(the_window_with_the_rest_of_such_a_run_has_the_mark_again),
      TEST(a_run_is_lost_only_where_the_refused_records_are_known_to_be_its_own),
      TEST(the_newest_of_many_reasons_comes_first_and_the_oldest_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
