/* SPDX-License-Identifier: Apache-2.0 */
/* The report on a run whose program started another one that no sampler reaches. */
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

static void assert_lost(const struct worker_note *note, uint64_t seq, uint64_t wanted,
                        const char *refusal) {
  char why[INTAKE_WHY_BYTES];
  assert_int_equal(run_note_lost(&bench->worker, note->serial, seq, why), wanted);
  assert_string_equal(why, refusal);
}

/* Two runs share batch 2; one has 1, the other 3. */
static void a_run_has_lost_its_own_records_alone(void **state) {
  (void)state;
  struct worker *worker = &bench->worker;
  struct run run = begin();
  struct worker_note *other = &worker->notes[1];
  *other = (struct worker_note){.serial = run.note->serial + 1, .pid = 1};
  run.note->samples.by_agent = 10;
  run_note_on_batch(worker, 1);
  run.note->samples.by_agent = 30;
  other->samples.by_perf = 5;
  run_note_on_batch(worker, 2);
  other->samples.by_perf = 12;
  run_note_on_batch(worker, 3);
  run_note_on_answer(worker, 3, "no room");
  run_note_on_answer(worker, 1, NULL);
  run_note_on_answer(worker, 2, NULL);
  assert_lost(run.note, 3, 0, "");
  assert_lost(other, 3, 7, "no room");
  run.note->samples.by_agent = 31;
  run_note_on_batch(worker, 4);
  run_note_on_batch(worker, 5); /* contains neither */
  run_note_on_answer(worker, 5, "not theirs");
  assert_lost(run.note, 3, 0, ""); /* 4 is still pending */
  assert_lost(run.note, 4, 1, ""); /* 4 left the spool unsent */
  other->samples.by_perf = 13;
  run_note_on_batch(worker, 0); /* was not written */
  assert_lost(other, 5, 8, "no room");
  end(&run);
}

static void of_more_batches_than_there_are_rows_the_oldest_are_not_known(void **state) {
  (void)state;
  struct worker *worker = &bench->worker;
  struct run run = begin();
  for (uint64_t seq = 1; seq <= WORKER_RUN_BATCHES_MAX + 1; seq++) {
    run.note->samples.by_agent++;
    run_note_on_batch(worker, seq);
  }
  run_note_on_answer(worker, 1, "no room");
  run_note_on_answer(worker, 2, "no room");
  assert_lost(run.note, 2, 1, "no room");
  assert_int_equal(worker->run_batch_count, WORKER_RUN_BATCHES_MAX - 1);
  end(&run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, ladder_make, ladder_unmake)
      TEST(a_refused_child_is_said_beside_why_its_run_goes_by_timer),
      TEST(a_window_has_the_mark_only_where_a_child_was_refused_in_it),
      TEST(the_window_with_the_rest_of_such_a_run_has_the_mark_again),
      TEST(a_run_has_lost_its_own_records_alone),
      TEST(of_more_batches_than_there_are_rows_the_oldest_are_not_known),
      TEST(the_newest_of_many_reasons_comes_first_and_the_oldest_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
