/* SPDX-License-Identifier: Apache-2.0 */
#include "spool_fixture.h"

#include <dirent.h>
#include <pthread.h>

const struct spool_limits roomy = {64 << 20, 1 << 20, 5000000000ULL, 0};
int sync_error;

static pthread_mutex_t disk = PTHREAD_MUTEX_INITIALIZER;

void disk_is_busy(bool is_busy) {
  assert_int_equal(is_busy ? pthread_mutex_lock(&disk) : pthread_mutex_unlock(&disk), 0);
}

int fdatasync(int fd) {
  pthread_mutex_lock(&disk);
  pthread_mutex_unlock(&disk);
  if (sync_error == 0) return fsync(fd);
  errno = sync_error;
  return -1;
}

void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  struct bench *bench = context;
  bench->lost[reason] += records;
  bench->lost_run = run;
}

void open_with(struct bench *bench, const struct spool_limits *limits) {
  assert_int_equal(spool_open(bench->dir, limits, on_loss, bench, &bench->spool), 0);
}

void reopen(struct bench *bench) {
  spool_close(bench->spool);
  open_with(bench, &roomy);
}

int set_up(void **state) {
  struct bench *bench = calloc(1, sizeof *bench);
  snprintf(bench->dir, sizeof bench->dir, "/tmp/spool-test-XXXXXX");
  if (bench == NULL || mkdtemp(bench->dir) == NULL) return -1;
  open_with(bench, &roomy);
  *state = bench;
  return 0;
}

int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk) {
  (void)status, (void)flag, (void)walk;
  return remove(path);
}

int tear_down(void **state) {
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

int append(struct bench *bench, uint64_t run, uint64_t seq) {
  uint8_t payload[PAYLOAD];
  fill_payload(seq, payload);
  struct spool_item item = {run, seq, RECORDS, 2 * PAYLOAD, {payload, sizeof payload}};
  return spool_append(bench->spool, &item);
}

void append_many(struct bench *bench, uint64_t first, uint64_t last) {
  for (uint64_t seq = first; seq <= last; seq++) assert_int_equal(append(bench, RUN, seq), 0);
}

uint64_t take(struct bench *bench) {
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

uint64_t take_and_ack_all(struct bench *bench) {
  uint64_t count = 0;
  for (uint64_t seq; (seq = take(bench)) != 0; count++) spool_ack(bench->spool, RUN, seq);
  return count;
}

struct spool_figures figures(struct bench *bench) {
  struct spool_figures ret;
  spool_figures(bench->spool, &ret);
  return ret;
}

unsigned count_files(struct bench *bench, const char *sub, const char *suffix) {
  char path[256];
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

int damage_fd(struct bench *bench, unsigned id) {
  char path[256];
  snprintf(path, sizeof path, "%s/%016x.seg", bench->dir, id);
  int fd = open(path, O_RDWR);
  assert_true(fd >= 0);
  return fd;
}

void flip_byte(struct bench *bench, unsigned id, off_t at) {
  int fd = damage_fd(bench, id);
  uint8_t byte;
  assert_int_equal(pread(fd, &byte, 1, at), 1);
  byte ^= 0x5a;
  assert_int_equal(pwrite(fd, &byte, 1, at), 1);
  close(fd);
}
