/* SPDX-License-Identifier: Apache-2.0 */
/* A spool's guarantees when its disk loses written data: torn tails, flipped bytes, foreign files,
   a full disk, kill -9. */
#include "spool/spool.h"

#include "spool_fixture.h"

static void a_tail_torn_at_any_byte_is_cut_and_is_no_loss(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 2);
  spool_close(bench->spool);
  for (off_t cut = 2 * ENTRY - 1; cut >= ENTRY; cut--) {
    int fd = damage_fd(bench, 1);
    assert_int_equal(ftruncate(fd, cut), 0);
    close(fd);
    open_with(bench, &roomy);
    assert_int_equal(figures(bench).entries, 1);
    assert_int_equal(figures(bench).torn_tails, cut > ENTRY ? 1 : 0);
    assert_int_equal(spool_last_seq(bench->spool, RUN), 1);
    append_many(bench, 2, 2);
    assert_int_equal(take(bench), 1);
    assert_int_equal(take(bench), 2);
    spool_close(bench->spool);
  }
  open_with(bench, &roomy);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], 0);
  assert_int_equal(figures(bench).corrupt_segments, 0);
}

static void zeros_at_the_end_are_a_torn_tail(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 2);
  spool_close(bench->spool);
  int fd = damage_fd(bench, 1);
  assert_int_equal(ftruncate(fd, 2 * ENTRY + 3 * 4096), 0);
  close(fd);
  open_with(bench, &roomy);
  append_many(bench, 3, 3);
  for (uint64_t seq = 1; seq <= 3; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(figures(bench).corrupt_segments, 0);
}

static void a_flipped_payload_costs_one_batch_counted_once(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 5);
  spool_close(bench->spool);
  flip_byte(bench, 1, 2 * ENTRY + SPOOL_HEADER_BYTES + 100);
  open_with(bench, &roomy);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], RECORDS);
  reopen(bench);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], RECORDS);
  uint64_t expected[] = {1, 2, 4, 5, 0};
  for (int i = 0; i < 5; i++) assert_int_equal(take(bench), expected[i]);
}

static void a_payload_that_rots_while_it_waits_is_found_when_read(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  assert_int_equal(append(bench, RUN + 1, 1), 0); /* closes the first segment */
  flip_byte(bench, 1, ENTRY + SPOOL_HEADER_BYTES);
  assert_int_equal(take(bench), 1);
  assert_int_equal(take(bench), 3);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], RECORDS);
  assert_int_equal(figures(bench).corrupt_segments, 1);
  reopen(bench);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], RECORDS);
}

static void a_damaged_segment_is_set_aside_when_its_good_batches_have_left(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 5);
  spool_close(bench->spool);
  flip_byte(bench, 1, ENTRY + 9);
  open_with(bench, &roomy);
  assert_int_equal(figures(bench).corrupt_segments, 1);
  append_many(bench, 6, 6); /* in a new segment */
  assert_int_equal(take_and_ack_all(bench), 5);
  assert_int_equal(count_files(bench, "", ".corrupt"), 1);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
}

static void a_segment_without_one_good_byte_is_set_aside_at_once(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 1);
  spool_close(bench->spool);
  int fd = damage_fd(bench, 1);
  char noise[3000];
  memset(noise, 0xa5, sizeof noise);
  assert_int_equal(pwrite(fd, noise, sizeof noise, 0), sizeof noise);
  close(fd);
  open_with(bench, &roomy);
  assert_int_equal(count_files(bench, "", ".corrupt"), 1);
  append_many(bench, 1, 1);
  assert_int_equal(take(bench), 1);
}

static void a_segment_of_another_version_is_set_aside(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 1);
  spool_close(bench->spool);
  int fd = damage_fd(bench, 1);
  uint8_t header[SPOOL_HEADER_BYTES];
  assert_int_equal(pread(fd, header, sizeof header, 0), sizeof header);
  header[4] = SPOOL_VERSION + 1;
  uint32_t crc = spool_crc32c(span_of(header, 44));
  memcpy(header + 44, &crc, sizeof crc);
  assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
  close(fd);
  open_with(bench, &roomy);
  assert_int_equal(take(bench), 0);
  assert_int_equal(count_files(bench, "", ".corrupt"), 1);
}

static void evidence_is_bounded(void **state) {
  struct bench *bench = *state;
  for (unsigned i = 1; i <= 8; i++) {
    append_many(bench, i, i);
    spool_close(bench->spool);
    flip_byte(bench, i, 8);
    open_with(bench, &roomy);
  }
  assert_int_equal(count_files(bench, "", ".corrupt"), SPOOL_CORRUPT_FILES);
}

static void evidence_is_bounded_in_bytes_too(void **state) {
  struct bench *bench = *state;
  for (unsigned i = 1; i <= 3; i++) {
    append_many(bench, i, i);
    spool_close(bench->spool);
    int fd = damage_fd(bench, i);
    assert_int_equal(pwrite(fd, "noise", 5, ENTRY), 5);
    assert_int_equal(ftruncate(fd, SPOOL_CORRUPT_BYTES / 2 + 1), 0);
    close(fd);
    open_with(bench, &roomy);
    take_and_ack_all(bench);
  }
  assert_int_equal(append(bench, RUN + 1, 1), 0);
  assert_int_equal(count_files(bench, "", ".corrupt"), 1);
}

enum bad { BAD_NOISE, BAD_ZEROS, BAD_VERSION, BAD_CUT, BAD_HUGE, BAD_LENGTH, BAD_KINDS };

/* Damages segment ID in one of the ways of a failing flash, or of another program. */
static void spoil(struct bench *bench, unsigned id, enum bad bad) {
  static uint8_t noise[4 << 20];
  uint8_t header[SPOOL_HEADER_BYTES];
  int fd = damage_fd(bench, id);
  assert_int_equal(pread(fd, header, sizeof header, 0), sizeof header);
  if (bad == BAD_VERSION) header[4] = SPOOL_VERSION + 1;
  if (bad == BAD_LENGTH) memset(header + 32, 0xff, 8);
  uint32_t crc = spool_crc32c(span_of(header, 44));
  memcpy(header + 44, &crc, sizeof crc);
  for (size_t i = 0; i < sizeof noise; i++)
    noise[i] = bad == BAD_NOISE ? (uint8_t)(i * 2654435761U >> 13) : 0;
  if (bad == BAD_NOISE || bad == BAD_ZEROS)
    assert_int_equal(pwrite(fd, noise, sizeof noise, 0), sizeof noise);
  if (bad == BAD_VERSION || bad == BAD_LENGTH)
    assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
  if (bad == BAD_CUT) assert_int_equal(ftruncate(fd, 5 * ENTRY - 7), 0);
  if (bad == BAD_HUGE) assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
  close(fd);
}

/* Ten batches in each of twelve segments, every second one damaged. */
static void a_bad_spool_starts_at_once_and_ships_the_rest(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits many = {200 * ENTRY, 10 * ENTRY, 5000000000ULL, 0};
  open_with(bench, &many);
  append_many(bench, 1, 20 * BAD_KINDS);
  spool_close(bench->spool);
  for (unsigned bad = 0; bad < BAD_KINDS; bad++) spoil(bench, 2 * bad + 1, bad);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  open_with(bench, &many);
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds =
      (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
  if (seconds > 1) fail_msg("a bad spool took %.3f s", seconds);
  assert_int_equal(figures(bench).corrupt_segments, 4); /* zeros and a cut are torn tails */
  assert_int_equal(figures(bench).torn_tails, 2);
  uint64_t whole = 10 * BAD_KINDS; /* plus the remains of the damaged ones */
  uint64_t rest = 4 /* cut */ + 10 /* huge */ + 9 /* version */ + 9 /* length */;
  assert_int_equal(take_and_ack_all(bench), whole + rest);
  assert_true(count_files(bench, "", ".corrupt") <= SPOOL_CORRUPT_FILES);
}

/* One flipped byte anywhere: at most the batch that contains it is lost, and none is invented. */
static void any_flipped_byte_costs_at_most_one_batch(void **state) {
  struct bench *bench = *state;
  for (off_t at = 0; at < 3 * ENTRY; at += 7) {
    uint64_t before = bench->lost[LOSS_SPOOL_CORRUPT];
    append_many(bench, 1, 3);
    spool_close(bench->spool);
    flip_byte(bench, 1, at);
    open_with(bench, &roomy);
    uint64_t got = take_and_ack_all(bench);
    assert_int_equal(got, 2);
    assert_true(bench->lost[LOSS_SPOOL_CORRUPT] - before <= RECORDS);
    spool_close(bench->spool);
    nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    open_with(bench, &roomy);
  }
}

static void foreign_files_are_left_alone(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  const char *names[] = {"README", "0000000000000001.seg.bak", "000000000000000G.seg", "1.seg"};
  char path[256];
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", bench->dir, names[i]);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(fd, "keep", 4), 4);
    close(fd);
  }
  snprintf(path, sizeof path, "%s/00000000000000ff.seg", bench->dir);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  open_with(bench, &roomy);
  append_many(bench, 1, 3);
  assert_int_equal(take_and_ack_all(bench), 3);
  struct stat status;
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", bench->dir, names[i]);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_size, 4);
  }
}

static void a_full_disk_refuses_and_recovers_by_itself(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 1);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, tight;
  getrlimit(RLIMIT_FSIZE, &before);
  tight = (struct rlimit){ENTRY + 100, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &tight);
  assert_true(append(bench, RUN, 2) < 0);
  assert_true(append(bench, RUN, 2) < 0);
  assert_true(figures(bench).last_error < 0);
  struct spool_item small = {RUN, 2, RECORDS, 1, span_of_string("x")};
  assert_int_equal(spool_append(bench->spool, &small),
                   0); /* smaller than the part that was cut off */
  setrlimit(RLIMIT_FSIZE, &before);
  assert_int_equal(figures(bench).last_error, 0);
  reopen(bench);
  append_many(bench, 3, 3);
  struct spool_item item;
  assert_int_equal(take(bench), 1);
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(item.seq, 2);
  assert_int_equal(take(bench), 3);
  assert_int_equal(figures(bench).corrupt_segments, 0);
}

static void after_a_failed_sync_a_new_segment_is_begun(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 2);
  sync_error = EIO;
  spool_sync(bench->spool, true);
  assert_int_equal(figures(bench).last_error, -EIO);
  uint64_t syncs = figures(bench).syncs;
  spool_sync(bench->spool, true);
  assert_int_equal(figures(bench).syncs, syncs); /* never tried again on that file */
  sync_error = 0;
  append_many(bench, 3, 3);
  assert_int_equal(count_files(bench, "", ".seg"), 2);
  assert_int_equal(figures(bench).last_error, 0);
  for (uint64_t seq = 1; seq <= 3; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 3);
}

static void a_sync_waits_for_its_interval(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  spool_sync(bench->spool, false);
  assert_int_equal(figures(bench).syncs, 0);
  spool_sync(bench->spool, true);
  spool_sync(bench->spool, true);
  assert_int_equal(figures(bench).syncs, 1);
}

/* Ticks as a worker does until SYNCS of them are over. */
static void tick_until_synced(struct bench *bench, uint64_t syncs) {
  for (unsigned ms = 0; ms < 10000 && figures(bench).syncs < syncs; ms++) {
    usleep(1000);
    spool_sync(bench->spool, false);
  }
  assert_int_equal(figures(bench).syncs, syncs);
}

static const struct spool_limits impatient = {64 << 20, 1 << 20, .sync_interval_ns = 0};

/* For any duration: each batch is acked before the next arrives. */
static void what_is_acked_in_time_is_never_synced(void **state) {
  struct bench *bench = *state;
  enum { INTERVAL_MS = 200 };
  const struct spool_limits patient = {64 << 20, 1 << 20,
                                       .sync_interval_ns = INTERVAL_MS * UINT64_C(1000000)};
  spool_close(bench->spool);
  open_with(bench, &patient);
  for (uint64_t seq = 1; seq <= 4; seq++) {
    append_many(bench, seq, seq);
    assert_int_equal(take_and_ack_all(bench), 1);
    usleep(INTERVAL_MS * 1000 * 5 / 4);
    spool_sync(bench->spool, false);
  }
  assert_int_equal(figures(bench).syncs, 0);
  append_many(bench, 5, 5);
  tick_until_synced(bench, 1);
}

static void a_busy_disk_holds_nobody_up(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  open_with(bench, &impatient);
  disk_is_busy(true);
  append_many(bench, 1, 2); /* the first sync has begun, and waits */
  spool_sync(bench->spool, false);
  assert_int_equal(figures(bench).syncs, 0);
  for (uint64_t seq = 1; seq <= 2; seq++) assert_int_equal(take(bench), seq);
  disk_is_busy(false);
  tick_until_synced(bench, 2); /* the second run has a separate sync */
  spool_sync(bench->spool, true);
  assert_int_equal(figures(bench).syncs, 2);
}

static void a_sync_that_fails_later_begins_a_new_segment(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  open_with(bench, &impatient);
  disk_is_busy(true);
  sync_error = EIO;
  append_many(bench, 1, 2);
  disk_is_busy(false);
  tick_until_synced(bench, 1);
  assert_int_equal(figures(bench).last_error, -EIO);
  sync_error = 0;
  append_many(bench, 3, 3);
  assert_int_equal(count_files(bench, "", ".seg"), 2);
  for (uint64_t seq = 1; seq <= 3; seq++) assert_int_equal(take(bench), seq);
}

static void a_vanished_segment_is_lost_and_counted(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  assert_int_equal(append(bench, RUN + 1, 4), 0);
  char path[256];
  snprintf(path, sizeof path, "%s/%016x.seg", bench->dir, 1);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(take(bench), 4);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], 3 * RECORDS);
  assert_int_equal(figures(bench).entries, 1);
}

/* A process is killed at any moment: every confirmed batch is kept. */
static void kill_9_loses_nothing_that_was_appended(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  uint64_t first = 1;
  for (int round = 0; round < 10; round++) {
    int report[2];
    assert_int_equal(pipe(report), 0);
    pid_t child = fork();
    if (child == 0) {
      open_with(bench, &roomy);
      for (uint64_t seq = first; append(bench, RUN, seq) == 0; seq++)
        if (write(report[1], &seq, sizeof seq) != sizeof seq) _exit(1);
      _exit(1);
    }
    close(report[1]);
    usleep(3000 + (useconds_t)round * 700);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    uint64_t seq, told = first - 1;
    while (read(report[0], &seq, sizeof seq) == sizeof seq) told = seq;
    close(report[0]);
    open_with(bench, &roomy);
    uint64_t last = spool_last_seq(bench->spool, RUN);
    assert_true(last == told || last == told + 1);
    first = last + 1;
    spool_close(bench->spool);
  }
  open_with(bench, &roomy);
  for (uint64_t expected = 1; expected < first; expected++) {
    assert_int_equal(take(bench), expected);
    spool_ack(bench->spool, RUN, expected);
  }
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], 0);
}

static void a_checksum_is_crc32c(void **state) {
  (void)state;
  assert_int_equal(spool_crc32c(span_of_string("123456789")), 0xe3069283);
}

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  const struct CMUnitTest tests[] = {
      CASE(a_tail_torn_at_any_byte_is_cut_and_is_no_loss),
      CASE(zeros_at_the_end_are_a_torn_tail),
      CASE(a_flipped_payload_costs_one_batch_counted_once),
      CASE(a_payload_that_rots_while_it_waits_is_found_when_read),
      CASE(a_damaged_segment_is_set_aside_when_its_good_batches_have_left),
      CASE(a_segment_without_one_good_byte_is_set_aside_at_once),
      CASE(a_segment_of_another_version_is_set_aside),
      CASE(evidence_is_bounded),
      CASE(evidence_is_bounded_in_bytes_too),
      CASE(a_bad_spool_starts_at_once_and_ships_the_rest),
      CASE(any_flipped_byte_costs_at_most_one_batch),
      CASE(foreign_files_are_left_alone),
      CASE(a_full_disk_refuses_and_recovers_by_itself),
      CASE(after_a_failed_sync_a_new_segment_is_begun),
      CASE(a_sync_waits_for_its_interval),
      CASE(what_is_acked_in_time_is_never_synced),
      CASE(a_busy_disk_holds_nobody_up),
      CASE(a_sync_that_fails_later_begins_a_new_segment),
      CASE(a_vanished_segment_is_lost_and_counted),
      CASE(kill_9_loses_nothing_that_was_appended),
      CASE(a_checksum_is_crc32c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
