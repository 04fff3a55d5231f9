/* SPDX-License-Identifier: Apache-2.0 */
/* A spool's guarantees on a failing disk: full, read-only, failing, for one call or for all. Each
   batch is in exactly one place: waiting, acked, or reported as lost. */
#include "spool/spool.h"

#include "disk_fixture.h"
#include "spool_fixture.h"

enum { MEMORY = 16 * ENTRY, BATCHES = 24, CALLS_MAX = 400 };

/* Small segments, so the start of a new segment is included. */
static const struct spool_limits with_memory = {80 * ENTRY, 4 * ENTRY, 0, MEMORY};

struct tally {
  uint64_t put, refused, acked, rejected;
};

static uint64_t lost(const struct bench *bench) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++) sum += bench->lost[i];
  return sum / RECORDS;
}

static void put(struct bench *bench, struct tally *tally, uint64_t count) {
  for (; count > 0; count--) {
    int rc = append(bench, RUN, ++tally->put);
    if (rc < 0) tally->refused++;
  }
}

static void ack(struct bench *bench, struct tally *tally, unsigned count) {
  for (uint64_t seq; count > 0 && (seq = take(bench)) != 0; count--, tally->acked++)
    spool_ack(bench->spool, RUN, seq);
}

static void refuse(struct bench *bench) {
  uint64_t seq = take(bench);
  if (seq != 0) spool_reject(bench->spool, &(struct spool_refusal){RUN, seq, LOSS_REJECTED, "no"});
}

static void is_exact(struct bench *bench, const struct tally *tally) {
  struct spool_figures now = figures(bench);
  assert_int_equal(tally->put, tally->refused + tally->acked + lost(bench) + now.entries);
  assert_int_equal(now.records, now.entries * RECORDS);
  assert_true(now.memory_bytes <= MEMORY);
}

/* All operations of a spool, on a disk with the configured failure. */
static void live(struct bench *bench, struct tally *tally) {
  put(bench, tally, BATCHES / 2);
  spool_sync(bench->spool, true);
  is_exact(bench, tally);
  ack(bench, tally, BATCHES / 4);
  refuse(bench);
  is_exact(bench, tally);
  put(bench, tally, BATCHES / 2);
  spool_sync(bench->spool, true);
  is_exact(bench, tally);
  spool_rewind(bench->spool);
  ack(bench, tally, BATCHES / 4);
  is_exact(bench, tally);
}

/* All waiting batches exist once the disk works again, in this life and the next. */
static void heal(struct bench *bench, struct tally *tally) {
  disk_heal();
  put(bench, tally, 2);
  spool_sync(bench->spool, true);
  is_exact(bench, tally);
  uint64_t waiting = figures(bench).entries;
  spool_rewind(bench->spool);
  spool_close(bench->spool);
  open_with(bench, &with_memory);
  uint64_t found = figures(bench).entries;
  assert_true(found + lost(bench) + tally->acked + tally->refused >= tally->put);
  assert_true(found + lost(bench) >= waiting); /* acked batches may reappear */
  for (uint64_t seq; (seq = take(bench)) != 0;) spool_ack(bench->spool, RUN, seq);
  assert_int_equal(figures(bench).entries, 0);
}

/* One life with call NTH failing; returns whether there was an NTH call. */
static bool try(struct bench *bench, unsigned nth, int error, bool is_lasting) {
  struct tally tally = {0};
  disk_fail("/tmp", nth, error, is_lasting);
  int rc = spool_open(bench->dir, &with_memory, on_loss, bench, &bench->spool);
  bool is_reached = disk_calls() >= nth;
  if (rc < 0) { /* at the start nothing is known: the caller tries again */
    assert_true(is_reached);
    disk_heal();
    open_with(bench, &with_memory);
  }
  live(bench, &tally);
  is_reached = disk_calls() >= nth;
  heal(bench, &tally);
  spool_close(bench->spool);
  nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  memset(bench->lost, 0, sizeof bench->lost);
  return is_reached;
}

static void try_all(struct bench *bench, int error, bool is_lasting) {
  unsigned nth = 1;
  spool_close(bench->spool);
  nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  while (try(bench, nth, error, is_lasting)) nth++;
  assert_true(nth > 60 && nth < CALLS_MAX);
  open_with(bench, &with_memory);
}

static void any_call_may_fail_once_with_eio(void **state) {
  try_all(*state, EIO, false);
}

static void any_call_may_fail_once_with_enospc(void **state) {
  try_all(*state, ENOSPC, false);
}

static void any_call_may_fail_once_for_want_of_descriptors(void **state) {
  try_all(*state, EMFILE, false);
}

static void from_any_call_on_the_disk_may_be_full(void **state) {
  try_all(*state, ENOSPC, true);
}

static void from_any_call_on_the_disk_may_be_read_only(void **state) {
  try_all(*state, EROFS, true);
}

static void from_any_call_on_the_disk_may_fail(void **state) {
  try_all(*state, EIO, true);
}

static void restart(struct bench *bench, const struct spool_limits *limits) {
  spool_close(bench->spool);
  open_with(bench, limits);
}

/* From now on the disk fails with ERROR; no sync of before is under way. */
static void fail_from_now_on(struct bench *bench, int error) {
  spool_sync(bench->spool, true);
  disk_fail(bench->dir, 1, error, true);
}

static void what_a_full_disk_refuses_is_in_memory_and_sent_from_there(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 2);
  fail_from_now_on(bench, ENOSPC);
  append_many(bench, 3, 6);
  assert_int_equal(figures(bench).last_error, -ENOSPC);
  assert_int_equal(figures(bench).memory_entries, 4);
  assert_int_equal(spool_unsaved_of(bench->spool, RUN), 4 * RECORDS);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 6);
  disk_heal();
  for (uint64_t seq = 1; seq <= 6; seq++) assert_int_equal(take(bench), seq);
  for (uint64_t seq = 1; seq <= 6; seq++) spool_ack(bench->spool, RUN, seq);
  assert_int_equal(lost(bench), 0);
}

static void memory_is_bounded_and_the_oldest_goes_first(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  fail_from_now_on(bench, EROFS);
  append_many(bench, 1, 60);
  struct spool_figures now = figures(bench);
  assert_true(now.memory_bytes <= MEMORY && now.memory_entries >= 12);
  assert_int_equal(now.entries + bench->lost[LOSS_SPOOL_ERROR] / RECORDS, 60);
  disk_heal();
  for (uint64_t seq = 61 - now.entries; seq <= 60; seq++) assert_int_equal(take(bench), seq);
}

static void what_was_in_memory_is_on_the_disk_once_that_works(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 1);
  fail_from_now_on(bench, ENOSPC);
  append_many(bench, 2, 9);
  disk_heal();
  spool_sync(bench->spool, false); /* a tick, nothing is appended */
  assert_int_equal(figures(bench).memory_entries, 0);
  assert_int_equal(figures(bench).last_error, 0);
  append_many(bench, 10, 10);
  restart(bench, &with_memory);
  for (uint64_t seq = 1; seq <= 10; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(lost(bench), 0);
}

static void a_full_spool_makes_room_for_what_was_in_memory(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 78);
  fail_from_now_on(bench, ENOSPC);
  append_many(bench, 79, 88);
  disk_heal();
  append_many(bench, 89, 90);
  struct spool_figures now = figures(bench);
  assert_int_equal(now.memory_entries, 0);
  assert_int_equal(bench->lost[LOSS_SPOOL_FULL] / RECORDS + now.entries, 90);
  for (uint64_t seq = now.first_seq; seq <= 90; seq++) {
    assert_int_equal(take(bench), seq);
    spool_ack(bench->spool, RUN, seq);
  }
}

/* Others have filled the disk: as where the spool itself is full the newest are kept, and the
   oldest are lost once memory has no room either. */
static void on_a_disk_that_others_filled_the_newest_are_kept(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 40);
  spool_sync(bench->spool, true);
  disk_fill(bench->dir, 40 * ENTRY);
  append_many(bench, 41, 55);
  assert_int_equal(lost(bench), 0); /* they wait in memory */
  append_many(bench, 56, 100);
  struct spool_figures now = figures(bench);
  assert_int_equal(bench->lost[LOSS_SPOOL_ERROR], 0);
  assert_int_equal(bench->lost[LOSS_SPOOL_FULL] / RECORDS + now.entries, 100);
  assert_true(now.entries >= 36);
  disk_heal();
  restart(bench, &with_memory);
  for (uint64_t seq = 101 - now.entries; seq <= 100; seq++) {
    uint64_t next = take(bench);
    if (next != seq) fail_msg("%d instead of %d", (int)next, (int)seq);
  }
}

static void a_disk_that_stays_full_is_not_given_everything(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 60);
  fail_from_now_on(bench, ENOSPC);
  append_many(bench, 61, 200);
  assert_in_range(bench->lost[LOSS_SPOOL_FULL] / RECORDS, 16,
                  24); /* once the capacity of the memory */
  assert_int_equal(lost(bench) + figures(bench).entries, 200);
}

/* The collector may have it. */
static void what_was_handed_out_gives_way_to_no_stranger(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 8); /* two segments */
  append_many(bench, 9, 9);
  for (uint64_t seq = 1; seq <= 8; seq++) assert_int_equal(take(bench), seq);
  spool_sync(bench->spool, true);
  disk_fill(bench->dir, 9 * ENTRY);
  append_many(bench, 10, 60);
  assert_true(bench->lost[LOSS_SPOOL_ERROR] > 0);
  for (uint64_t seq = 1; seq <= 8; seq++) spool_ack(bench->spool, RUN, seq);
  assert_int_equal(60 - 8, lost(bench) + figures(bench).entries);
}

static void what_memory_held_when_the_daemon_ends_is_told_as_lost(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  fail_from_now_on(bench, EROFS);
  append_many(bench, 1, 3);
  spool_close(bench->spool);
  assert_int_equal(bench->lost[LOSS_SPOOL_ERROR], 3 * RECORDS);
  disk_heal();
  open_with(bench, &with_memory);
}

static void without_a_folder_memory_serves_until_there_is_one(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  disk_fail("/tmp", 1, ENOSPC, true);
  open_with(bench, &with_memory);
  append_many(bench, 1, 3);
  assert_int_equal(figures(bench).last_error, -ENOSPC);
  spool_sync(bench->spool, true);
  disk_heal();
  append_many(bench, 4, 4);
  assert_int_equal(figures(bench).memory_entries, 0);
  restart(bench, &with_memory);
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq);
}

static void after_a_failed_sync_the_disk_is_left_alone_for_a_while(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  append_many(bench, 1, 2);
  sync_error = EIO;
  spool_sync(bench->spool, true);
  sync_error = 0;
  assert_int_equal(figures(bench).failed_syncs, 1);
  uint64_t syncs = figures(bench).syncs;
  append_many(bench, 3, 4);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
  assert_int_equal(figures(bench).memory_entries, 2);
  spool_sync(bench->spool, false);
  assert_int_equal(figures(bench).memory_entries, 2);
  assert_int_equal(figures(bench).syncs, syncs); /* the failed segment's file gets no other sync */
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(lost(bench), 0);
}

static void what_the_collector_has_is_not_synced(void **state) {
  struct bench *bench = *state;
  restart(bench, &with_memory);
  uint64_t before = figures(bench).syncs;
  spool_sync(bench->spool, true);
  for (uint64_t seq = 1; seq <= 8; seq++) {
    assert_int_equal(append(bench, RUN, seq), 0);
    assert_int_equal(take(bench), seq);
    spool_ack(bench->spool, RUN, seq);
    spool_sync(bench->spool, true);
  }
  assert_true(figures(bench).syncs <= before + 8);
  spool_close(bench->spool);
  struct spool_limits patient = with_memory;
  patient.sync_interval_ns = 3600000000000ULL;
  open_with(bench, &patient);
  for (uint64_t seq = 9; seq <= 40; seq++) {
    assert_int_equal(append(bench, RUN, seq), 0);
    assert_int_equal(take(bench), seq);
    spool_ack(bench->spool, RUN, seq);
    spool_sync(bench->spool, true);
  }
  assert_int_equal(figures(bench).syncs, 0);
  assert_int_equal(figures(bench).day_syncs, 0);
  assert_int_equal(figures(bench).day_bytes, figures(bench).bytes_written);
}

#define DISK_CASE(name) cmocka_unit_test_setup_teardown(name, set_up, end)

static int end(void **state) {
  disk_heal();
  return tear_down(state);
}

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  const struct CMUnitTest tests[] = {
      DISK_CASE(any_call_may_fail_once_with_eio),
      DISK_CASE(any_call_may_fail_once_with_enospc),
      DISK_CASE(any_call_may_fail_once_for_want_of_descriptors),
      DISK_CASE(from_any_call_on_the_disk_may_be_full),
      DISK_CASE(from_any_call_on_the_disk_may_be_read_only),
      DISK_CASE(from_any_call_on_the_disk_may_fail),
      DISK_CASE(what_a_full_disk_refuses_is_in_memory_and_sent_from_there),
      DISK_CASE(memory_is_bounded_and_the_oldest_goes_first),
      DISK_CASE(what_was_in_memory_is_on_the_disk_once_that_works),
      DISK_CASE(a_full_spool_makes_room_for_what_was_in_memory),
      DISK_CASE(on_a_disk_that_others_filled_the_newest_are_kept),
      DISK_CASE(a_disk_that_stays_full_is_not_given_everything),
      DISK_CASE(what_was_handed_out_gives_way_to_no_stranger),
      DISK_CASE(what_memory_held_when_the_daemon_ends_is_told_as_lost),
      DISK_CASE(without_a_folder_memory_serves_until_there_is_one),
      DISK_CASE(after_a_failed_sync_the_disk_is_left_alone_for_a_while),
      DISK_CASE(what_the_collector_has_is_not_synced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
