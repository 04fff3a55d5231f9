/* SPDX-License-Identifier: Apache-2.0 */
/* A power cut after each disk step of a spool, and again after each step of the recovery. None,
   all, or any part of the unsynced changes has survived, torn and out of order.

   Each time the spool must open, and return all synced, undelivered batches complete and once. It
   returns no other batches, and the returned and lost batches together are no more than those
   appended. */
#include "spool/spool.h"

#include "disk_fixture.h"
#include "spool_fixture.h"

enum { SEQS_MAX = 64, RANDOM_CUTS = 4, RECOVERY_CUTS = 4 };

static const struct spool_limits small = {40 * ENTRY, 5 * ENTRY, 3600000000000ULL, 0};

/* At which step each batch was put in, was synced, and had left; NEVER when not. */
enum { NEVER = ~0U };
static unsigned put_at[SEQS_MAX], safe_at[SEQS_MAX], left_at[SEQS_MAX];
static unsigned put_count;

static void note_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  on_loss(context, run, reason, records);
}

static void put_in(struct bench *bench, unsigned count) {
  for (; count > 0; count--) {
    unsigned seq = ++put_count;
    assert_true(seq < SEQS_MAX);
    assert_int_equal(append(bench, RUN, seq), 0);
    put_at[seq] = disk_steps();
    safe_at[seq] = left_at[seq] = NEVER;
  }
}

static void sync_all(struct bench *bench) {
  spool_sync(bench->spool, true);
  assert_int_equal(figures(bench).last_error, 0);
  for (unsigned seq = 1; seq <= put_count; seq++)
    if (safe_at[seq] == NEVER) safe_at[seq] = disk_steps();
}

/* COUNT batches leave the memory; the decision precedes the write of the first byte. */
static void let_go(struct bench *bench, unsigned count, bool is_refused) {
  for (; count > 0; count--) {
    uint64_t seq = take(bench);
    assert_true(seq > 0);
    left_at[seq] = disk_steps();
    if (is_refused)
      spool_reject(bench->spool, &(struct spool_refusal){RUN, seq, LOSS_REJECTED, "no"});
    else
      spool_ack(bench->spool, RUN, seq);
  }
}

/* A day in the life: segments begin, are acked in the middle, rejected, emptied, marked. */
static void live(struct bench *bench) {
  put_in(bench, 3);
  sync_all(bench);
  put_in(bench, 5);
  let_go(bench, 2, false);
  sync_all(bench);
  let_go(bench, 1, true);
  put_in(bench, 6);
  let_go(bench, 4, false);
  put_in(bench, 2);
  sync_all(bench);
  let_go(bench, 9, false);
  put_in(bench, 3);
  let_go(bench, 1, false);
  put_in(bench, 4);
}

static void empty(const char *dir) {
  nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  assert_int_equal(mkdir(dir, 0700), 0);
}

/* Opens DIR after a cut at STEPS, and checks all batches in it. */
static void look(const char *dir, unsigned steps) {
  struct bench found = {0};
  bool is_out[SEQS_MAX] = {false};
  unsigned put = 0, out = 0;
  snprintf(found.dir, sizeof found.dir, "%s", dir);
  assert_int_equal(spool_open(dir, &small, note_loss, &found, &found.spool), 0);
  for (uint64_t seq; (seq = take(&found)) != 0; out++) { /* checks every byte */
    assert_true(seq <= put_count && put_at[seq] <= steps && !is_out[seq]);
    is_out[seq] = true;
    spool_ack(found.spool, RUN, seq);
  }
  for (unsigned seq = 1; seq <= put_count; seq++) {
    if (put_at[seq] <= steps) put++;
    if (safe_at[seq] > steps || left_at[seq] <= steps) continue;
    if (!is_out[seq]) fail_msg("cut after step %u: batch %u was synced and is gone", steps, seq);
  }
  /* One more step: an append is counted only after all of its steps. */
  assert_true(out * RECORDS + found.lost[LOSS_SPOOL_CORRUPT] <= (put + 1) * RECORDS);
  assert_int_equal(figures(&found).last_error, 0);
  spool_close(found.spool);
}

/* The steps of a start: it opens, cuts, removes, and continues. */
static void recover(const char *dir) {
  struct bench again = {0};
  snprintf(again.dir, sizeof again.dir, "%s", dir);
  assert_int_equal(spool_open(dir, &small, note_loss, &again, &again.spool), 0);
  take(&again);
  assert_int_equal(append(&again, RUN + 1, 1), 0);
  spool_sync(again.spool, true);
  spool_close(again.spool);
}

/* The run that recovery appends to is not among the checked runs. */
static void drop_new_run(const char *dir) {
  struct spool *spool;
  struct bench again = {0};
  struct spool_item item;
  assert_int_equal(spool_open(dir, &small, note_loss, &again, &spool), 0);
  while (spool_next(spool, &item) == 0)
    if (item.run != RUN) spool_ack(spool, item.run, item.seq);
  spool_close(spool);
}

static void a_power_cut_at_any_step_loses_nothing_that_was_synced(void **state) {
  struct bench *bench = *state;
  char after[128];
  snprintf(after, sizeof after, "%.100s-after", bench->dir);
  assert_int_equal(mkdir(after, 0700), 0);
  spool_close(bench->spool);
  disk_record(bench->dir);
  open_with(bench, &small);
  put_count = 0;
  live(bench);
  assert_true(disk_steps() > 40);
  for (unsigned steps = 0; steps <= disk_steps(); steps++)
    for (unsigned cut = 0; cut < CUT_IS_RANDOM + RANDOM_CUTS; cut++) {
      empty(after);
      disk_cut(after, steps, cut);
      look(after, steps);
    }
  nftw(after, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  disk_stop();
}

static void a_power_cut_during_recovery_loses_nothing_either(void **state) {
  struct bench *bench = *state;
  char first[128], second[128];
  snprintf(first, sizeof first, "%.100s-first", bench->dir);
  snprintf(second, sizeof second, "%.100s-second", bench->dir);
  for (unsigned cut = 0; cut < CUT_IS_RANDOM + RECOVERY_CUTS; cut++) {
    for (unsigned steps = 0;; steps += 3) {
      spool_close(bench->spool);
      empty(bench->dir);
      disk_record(bench->dir);
      open_with(bench, &small);
      put_count = 0;
      live(bench);
      bool is_over = steps > disk_steps();
      assert_int_equal(mkdir(first, 0700), 0);
      if (!is_over) disk_cut(first, steps, cut);
      disk_record(first);
      if (!is_over) recover(first);
      for (unsigned again = 0; again <= disk_steps() && !is_over; again++)
        for (unsigned way = 0; way < CUT_IS_RANDOM + 1; way++) {
          assert_int_equal(mkdir(second, 0700), 0);
          disk_cut(second, again, way);
          drop_new_run(second);
          look(second, steps);
          nftw(second, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        }
      nftw(first, remove_one, 8, FTW_DEPTH | FTW_PHYS);
      if (is_over) break;
    }
  }
  disk_stop();
}

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  const struct CMUnitTest tests[] = {
      CASE(a_power_cut_at_any_step_loses_nothing_that_was_synced),
      CASE(a_power_cut_during_recovery_loses_nothing_either),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
