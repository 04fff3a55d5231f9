/* SPDX-License-Identifier: Apache-2.0 */
/* A spool on a real file system, in a folder of its own.  fdatasync is replaced by one that can be
   told to fail; everything else is the real thing. */
#ifndef TESTS_SPOOL_FIXTURE_H
#define TESTS_SPOOL_FIXTURE_H

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

static inline void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct bench *bench = context;
  bench->lost[reason] += records;
  bench->lost_run = run;
}

static inline void open_with(struct bench *bench, const struct spool_limits *limits) {
  assert_int_equal(spool_open(bench->dir, limits, on_loss, bench, &bench->spool), 0);
}

static inline void reopen(struct bench *bench) {
  spool_close(bench->spool);
  open_with(bench, &roomy);
}

static inline int set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  snprintf(bench->dir, sizeof bench->dir, "/tmp/spool-test-XXXXXX");
  if (bench == NULL || mkdtemp(bench->dir) == NULL) return -1;
  open_with(bench, &roomy);
  *state = bench;
  return 0;
}

static inline int remove_one(const char *path, const struct stat *status, int flag,
                             struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

static inline int tear_down(void **state) {
  struct bench *bench = *state;
  sync_error = 0;
  spool_close(bench->spool);
  nftw(bench->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
  free(bench);
  return 0;
}

static inline void fill_payload(uint64_t seq, uint8_t *payload) {
  for (size_t i = 0; i < PAYLOAD; i++) payload[i] = (uint8_t)(seq * 31 + i * 7 + (i >> 8));
}

static inline int append(struct bench *bench, uint64_t run, uint64_t seq) {
  uint8_t payload[PAYLOAD];
  fill_payload(seq, payload);
  struct spool_item item = {run, seq, RECORDS, 2 * PAYLOAD, {payload, sizeof payload}};
  return spool_append(bench->spool, &item);
}

static inline void append_many(struct bench *bench, uint64_t first, uint64_t last) {
  for (uint64_t seq = first; seq <= last; seq++) assert_int_equal(append(bench, RUN, seq), 0);
}

/* Takes the next one, checks that it is whole, and returns its seq; 0 when there is none. */
static inline uint64_t take(struct bench *bench) {
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

static inline uint64_t take_and_ack_all(struct bench *bench) {
  uint64_t count = 0;
  for (uint64_t seq; (seq = take(bench)) != 0; count++) spool_ack(bench->spool, RUN, seq);
  return count;
}

static inline struct spool_figures figures(struct bench *bench) {
  struct spool_figures ret;
  spool_figures(bench->spool, &ret);
  return ret;
}

static inline unsigned count_files(struct bench *bench, const char *sub, const char *suffix) {
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
static inline int damage_fd(struct bench *bench, unsigned id) {
  char path[128];
  snprintf(path, sizeof path, "%s/%016x.seg", bench->dir, id);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  return fd;
}

static inline void flip_byte(struct bench *bench, unsigned id, off_t at) {
  int fd = damage_fd(bench, id);
  uint8_t byte;
  assert_int_equal(pread(fd, &byte, 1, at), 1);
  byte ^= 0x5a;
  assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}

enum { ENTRY = SPOOL_HEADER_BYTES + PAYLOAD };

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
