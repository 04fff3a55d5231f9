/* SPDX-License-Identifier: Apache-2.0 */
/* The spool on a real file system, with real damage.  fdatasync is replaced by one that can be
   told to fail; everything else is the real thing. */
#include "proto/spool_segment.h"
#include "spool/spool.h"
#include "spool/spool_dir.h"

#include "common/log.h"
#include "proto/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { RUN = 0x1234, RECORDS = 10, PAYLOAD = 500 };

struct bench {
  char dir[64];
  struct spool *spool;
  uint64_t lost[LOSS_REASON_COUNT];
  uint64_t lost_run;
};

static int sync_error;

int fdatasync(int fd) {
  if (sync_error == 0) return fsync(fd);
  errno = sync_error;
  return -1;
}

static const struct spool_limits roomy = {64 << 20, 1 << 20, 5000000000ULL};

static void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct bench *bench = context;
  bench->lost[reason] += records;
  bench->lost_run = run;
}

static void open_with(struct bench *bench, const struct spool_limits *limits) {
  assert_int_equal(spool_open(bench->dir, limits, on_loss, bench, &bench->spool), 0);
}

static void reopen(struct bench *bench) {
  spool_close(bench->spool);
  open_with(bench, &roomy);
}

static int set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  snprintf(bench->dir, sizeof bench->dir, "/tmp/spool-test-XXXXXX");
  if (bench == NULL || mkdtemp(bench->dir) == NULL) return -1;
  open_with(bench, &roomy);
  *state = bench;
  return 0;
}

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

static int tear_down(void **state) {
  struct bench *bench = *state;
  sync_error = 0;
  spool_close(bench->spool);
  nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(bench);
  return 0;
}

static void fill_payload(uint64_t seq, uint8_t *payload) {
  for (size_t i = 0; i < PAYLOAD; i++) payload[i] = (uint8_t)(seq * 31 + i * 7 + (i >> 8));
}

static int append(struct bench *bench, uint64_t run, uint64_t seq) {
  uint8_t payload[PAYLOAD];
  fill_payload(seq, payload);
  struct spool_item item = {run, seq, RECORDS, 2 * PAYLOAD, {payload, sizeof payload}};
  return spool_append(bench->spool, &item);
}

static void append_many(struct bench *bench, uint64_t first, uint64_t last) {
  for (uint64_t seq = first; seq <= last; seq++) assert_int_equal(append(bench, RUN, seq), 0);
}

/* Takes the next one, checks that it is whole, and returns its seq; 0 when there is none. */
static uint64_t take(struct bench *bench) {
  struct spool_item item;
  uint8_t payload[PAYLOAD];
  if (spool_next(bench->spool, &item) != 0) return 0;
  fill_payload(item.seq, payload);
  assert_int_equal(item.records, RECORDS);
  assert_int_equal(item.raw_len, 2 * PAYLOAD);
  assert_int_equal(item.zstd.len, sizeof payload);
  assert_memory_equal(item.zstd.data, payload, sizeof payload);
  return item.seq;
}

static uint64_t take_and_ack_all(struct bench *bench) {
  uint64_t count = 0;
  for (uint64_t seq; (seq = take(bench)) != 0; count++) spool_ack(bench->spool, RUN, seq);
  return count;
}

static struct spool_figures figures(struct bench *bench) {
  struct spool_figures ret;
  spool_figures(bench->spool, &ret);
  return ret;
}

static unsigned count_files(struct bench *bench, const char *sub, const char *suffix) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", bench->dir, sub);
  DIR *dir = opendir(path);
  unsigned count = 0;
  for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    const char *dot = strrchr(entry->d_name, '.');
    if (dot != NULL && strcmp(dot, suffix) == 0) count++;
  }
  if (dir != NULL) closedir(dir);
  return count;
}

/* Opens segment ID as a file to be damaged. */
static int damage_fd(struct bench *bench, unsigned id) {
  char path[128];
  snprintf(path, sizeof path, "%s/%016x.seg", bench->dir, id);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  return fd;
}

static void flip_byte(struct bench *bench, unsigned id, off_t at) {
  int fd = damage_fd(bench, id);
  uint8_t byte;
  assert_int_equal(pread(fd, &byte, 1, at), 1);
  byte ^= 0x5a;
  assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}

enum { ENTRY = SPOOL_HEADER_BYTES + PAYLOAD };

static void an_appended_batch_comes_out_whole_and_in_order(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 5);
  struct spool_figures now = figures(bench);
  assert_int_equal(now.entries, 5);
  assert_int_equal(now.records, 5 * RECORDS);
  assert_int_equal(spool_records_of(bench->spool, RUN), 5 * RECORDS);
  assert_int_equal(spool_records_of(bench->spool, RUN + 1), 0);
  assert_int_equal(now.bytes, 5 * ENTRY);
  assert_int_equal(now.first_run, RUN);
  assert_int_equal(now.first_seq, 1);
  for (uint64_t seq = 1; seq <= 5; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(take(bench), 0);
  append_many(bench, 6, 6);
  assert_int_equal(take(bench), 6);
}

static void what_was_not_acked_survives_a_restart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 4);
  take(bench);
  reopen(bench);
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq);
  assert_int_equal(figures(bench).entries, 4);
}

static void an_emptied_spool_is_empty_after_a_restart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 4);
  assert_int_equal(take_and_ack_all(bench), 4);
  assert_int_equal(spool_records_of(bench->spool, RUN), 0);
  assert_int_equal(figures(bench).entries, 0);
  assert_int_equal(figures(bench).first_seq, 0);
  reopen(bench);
  assert_int_equal(take(bench), 0);
  append_many(bench, 5, 5);
  reopen(bench);
  assert_int_equal(take(bench), 5);
}

static void a_rewind_hands_out_again_what_is_not_acked(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 6);
  for (int i = 0; i < 4; i++) take(bench);
  spool_ack(bench->spool, RUN, 2);
  spool_ack(bench->spool, RUN, 4);
  spool_rewind(bench->spool);
  uint64_t expected[] = {1, 3, 5, 6, 0};
  for (int i = 0; i < 5; i++) assert_int_equal(take(bench), expected[i]);
}

static void acks_may_come_in_any_order_twice_or_for_strangers(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  for (int i = 0; i < 3; i++) take(bench);
  spool_ack(bench->spool, RUN, 3);
  spool_ack(bench->spool, RUN, 3);
  spool_ack(bench->spool, RUN + 1, 1);
  spool_ack(bench->spool, RUN, 77);
  assert_int_equal(figures(bench).entries, 2);
  spool_ack(bench->spool, RUN, 1);
  spool_ack(bench->spool, RUN, 2);
  assert_int_equal(figures(bench).entries, 0);
}

static void the_last_seq_is_known_after_ack_and_restart(void **state) {
  struct bench *bench = *state;
  assert_int_equal(spool_last_seq(bench->spool, RUN), 0);
  append_many(bench, 1, 9);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 9);
  take_and_ack_all(bench);
  reopen(bench);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 9);
  assert_int_equal(spool_last_seq(bench->spool, RUN + 1), 0);
}

static void runs_are_kept_apart(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 2);
  assert_int_equal(append(bench, RUN + 1, 1), 0);
  reopen(bench);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 2);
  assert_int_equal(spool_last_seq(bench->spool, RUN + 1), 1);
  struct spool_item item;
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(spool_next(bench->spool, &item), 0);
  assert_int_equal(item.run, RUN + 1);
}

static void acked_segments_are_deleted(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits small = {64 << 20, 4 * ENTRY, 5000000000ULL};
  open_with(bench, &small);
  append_many(bench, 1, 40);
  assert_int_equal(count_files(bench, "", ".seg"), 10);
  assert_int_equal(take_and_ack_all(bench), 40);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
}

static void an_emptied_segment_goes_when_a_newer_one_begins(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  take_and_ack_all(bench);
  assert_int_equal(count_files(bench, "", ".seg"), 1); /* it knows the last seq */
  assert_int_equal(append(bench, RUN + 1, 1), 0);
  assert_int_equal(count_files(bench, "", ".seg"), 1);
  assert_int_equal(spool_last_seq(bench->spool, RUN), 0);
}

static void over_the_limit_the_oldest_go_and_are_counted(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tight = {32 * ENTRY, 1 << 20, 5000000000ULL};
  open_with(bench, &tight);
  append_many(bench, 1, 100);
  struct spool_figures now = figures(bench);
  assert_true(now.bytes <= 32 * ENTRY);
  assert_true(now.entries >= 24);
  assert_int_equal(now.records + bench->lost[LOSS_SPOOL_FULL], 100 * RECORDS);
  assert_int_equal(bench->lost_run, RUN);
  uint64_t first = now.first_seq;
  assert_int_equal(first, 101 - now.entries);
  for (uint64_t seq = first; seq <= 100; seq++) assert_int_equal(take(bench), seq);
}

static void what_was_handed_out_is_not_dropped(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tight = {32 * ENTRY, 1 << 20, 5000000000ULL};
  open_with(bench, &tight);
  append_many(bench, 1, 2);
  assert_int_equal(take(bench), 1);
  assert_int_equal(take(bench), 2);
  append_many(bench, 3, 200);
  spool_rewind(bench->spool);
  for (uint64_t seq = 1; seq <= 4; seq++) assert_int_equal(take(bench), seq); /* one segment */
  assert_true(take(bench) > 100);
  uint64_t waiting = figures(bench).records;
  assert_int_equal(waiting + bench->lost[LOSS_SPOOL_FULL], 200 * RECORDS);
}

static void a_batch_over_the_whole_limit_is_refused(void **state) {
  struct bench *bench = *state;
  spool_close(bench->spool);
  struct spool_limits tiny = {ENTRY - 1, ENTRY, 5000000000ULL};
  open_with(bench, &tiny);
  assert_int_equal(append(bench, RUN, 1), -ENOSPC);
  assert_int_equal(figures(bench).last_error, -ENOSPC);
  static uint8_t big[LIMIT_BATCH_ZSTD_BYTES + 1];
  struct spool_item item = {RUN, 1, 1, 1, {big, sizeof big}};
  assert_int_equal(spool_append(bench->spool, &item), -EOVERFLOW);
}

static void the_window_of_unacked_batches_is_bounded(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 200);
  uint64_t count = 0;
  take(bench); /* the first is never acked */
  for (uint64_t seq; (seq = take(bench)) != 0; count++) spool_ack(bench->spool, RUN, seq);
  assert_int_equal(count, 4 * LIMIT_IN_FLIGHT - 1);
  spool_ack(bench->spool, RUN, 1);
  assert_int_equal(take(bench), 4 * LIMIT_IN_FLIGHT + 1);
}

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

/* One flipped byte anywhere: never more than the batch it lies in is gone, nothing is invented. */
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
  char path[128];
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

static void a_rejected_batch_goes_to_quarantine_and_is_counted_once(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  for (int i = 0; i < 3; i++) take(bench);
  spool_reject(bench->spool, RUN, 2, "limit of modules");
  spool_reject(bench->spool, RUN, 2, "limit of modules");
  assert_int_equal(bench->lost[LOSS_REJECTED], RECORDS);
  assert_int_equal(figures(bench).quarantined, 1);
  assert_int_equal(count_files(bench, "quarantine", ".batch"), 1);
  reopen(bench);
  assert_int_equal(take(bench), 1);
  assert_int_equal(take(bench), 3);
  assert_int_equal(bench->lost[LOSS_REJECTED], RECORDS);
}

static void the_quarantine_is_bounded(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 40);
  for (uint64_t seq = 1; seq <= 40; seq++) {
    assert_int_equal(take(bench), seq);
    spool_reject(bench->spool, RUN, seq, "no");
  }
  assert_int_equal(bench->lost[LOSS_REJECTED], 40 * RECORDS);
  assert_int_equal(count_files(bench, "quarantine", ".batch"), SPOOL_QUARANTINE_FILES);
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
  assert_int_equal(spool_append(bench->spool, &small), 0); /* less than what was cut off */
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

static void a_second_daemon_on_one_spool_is_refused(void **state) {
  struct bench *bench = *state;
  struct spool *second;
  assert_int_equal(spool_open(bench->dir, &roomy, on_loss, bench, &second), -EBUSY);
}

static void a_vanished_segment_is_lost_and_counted(void **state) {
  struct bench *bench = *state;
  append_many(bench, 1, 3);
  assert_int_equal(append(bench, RUN + 1, 4), 0);
  char path[128];
  snprintf(path, sizeof path, "%s/%016x.seg", bench->dir, 1);
  assert_int_equal(unlink(path), 0);
  assert_int_equal(take(bench), 4);
  assert_int_equal(bench->lost[LOSS_SPOOL_CORRUPT], 3 * RECORDS);
  assert_int_equal(figures(bench).entries, 1);
}

/* A process that is killed at any moment: what it was told is there, is there. */
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

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  log_set_level(LOG_LEVEL_ERROR);
  const struct CMUnitTest tests[] = {
      CASE(an_appended_batch_comes_out_whole_and_in_order),
      CASE(what_was_not_acked_survives_a_restart),
      CASE(an_emptied_spool_is_empty_after_a_restart),
      CASE(a_rewind_hands_out_again_what_is_not_acked),
      CASE(acks_may_come_in_any_order_twice_or_for_strangers),
      CASE(the_last_seq_is_known_after_ack_and_restart),
      CASE(runs_are_kept_apart),
      CASE(acked_segments_are_deleted),
      CASE(an_emptied_segment_goes_when_a_newer_one_begins),
      CASE(over_the_limit_the_oldest_go_and_are_counted),
      CASE(what_was_handed_out_is_not_dropped),
      CASE(a_batch_over_the_whole_limit_is_refused),
      CASE(the_window_of_unacked_batches_is_bounded),
      CASE(a_tail_torn_at_any_byte_is_cut_and_is_no_loss),
      CASE(zeros_at_the_end_are_a_torn_tail),
      CASE(a_flipped_payload_costs_one_batch_counted_once),
      CASE(a_payload_that_rots_while_it_waits_is_found_when_read),
      CASE(a_damaged_segment_is_set_aside_when_its_good_batches_have_left),
      CASE(a_segment_without_one_good_byte_is_set_aside_at_once),
      CASE(a_segment_of_another_version_is_set_aside),
      CASE(evidence_is_bounded),
      CASE(any_flipped_byte_costs_at_most_one_batch),
      CASE(foreign_files_are_left_alone),
      CASE(a_rejected_batch_goes_to_quarantine_and_is_counted_once),
      CASE(the_quarantine_is_bounded),
      CASE(a_full_disk_refuses_and_recovers_by_itself),
      CASE(after_a_failed_sync_a_new_segment_is_begun),
      CASE(a_sync_waits_for_its_interval),
      CASE(a_second_daemon_on_one_spool_is_refused),
      CASE(a_vanished_segment_is_lost_and_counted),
      CASE(kill_9_loses_nothing_that_was_appended),
      CASE(a_checksum_is_crc32c),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
