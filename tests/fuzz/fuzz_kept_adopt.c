/* SPDX-License-Identifier: Apache-2.0 */
/* A recorder's or histogram's file of a live writer, with arbitrary changes before and after a
   daemon adopts it. Either the file stays as it is, or it becomes a target, which is drained,
   switched, described and ended like any other. The counters add up and match the spool, and no
   descriptor stays open.

     input: flags (1 byte: histogram, its process lives), bytes cut off the end (2 bytes),
   patches.h; the second half of the patches comes when the file was taken on */
#include "daemon/budget.h"
#include "daemon/kept_adopt.h"
#include "daemon/kept_ship.h"
#include "daemon/pipeline.h"
#include "daemon/sweep.h"
#include "kept_rings.h"
#include "patches.h"

#include "common/log.h"
#include "proc/proc_stat.h"
#include "targets/rate.h"
#include "targets/switch.h"
#include "targets/timer_ring.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { IS_HISTOGRAM = 1, IS_ALIVE = 2, RUN = 99, PERIOD_NS = 10000000, FDS_MAX = 64 };

static struct settings settings;
static struct keeper keeper;
static struct worker worker;

static void *hold(void *end) {
  struct pollfd asked = {.fd = *(int *)end, .events = POLLIN};
  while (poll(&asked, 1, -1) >= 0)
    if (hold_serve(asked.fd, &keeper.held) == -ECONNRESET) break;
  return NULL;
}

static void clean_up(void) {
  char command[SETTINGS_PATH_BYTES + 16];
  spool_close(worker.spool);
  snprintf(command, sizeof command, "rm -rf '%s'", settings.state_dir);
  if (system(command) != 0) abort();
}

static void open_keeper(void) {
  static int ends[2];
  char path[SETTINGS_PATH_BYTES];
  pthread_t holder;
  keeper = (struct keeper){.settings = &settings, .output = -1, .listener = -1, .run = RUN};
  settings_path(settings.state_dir, "books", path);
  if (counter_page_open(path, RUN, &keeper.page) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0 ||
      pthread_create(&holder, NULL, hold, &ends[0]) != 0)
    abort();
  pthread_detach(holder);
  keeper.worker_socket = ends[1];
}

static void open_worker(void) {
  char path[SETTINGS_PATH_BYTES];
  log_set_level(LOG_LEVEL_ERROR);
  settings.hz = 99;
  settings.spool_bytes = 16 << 20;
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* never blocks */
  snprintf(settings.state_dir, sizeof settings.state_dir, "%s/fuzz-kept-adopt.XXXXXX", memory);
  if (mkdtemp(settings.state_dir) == NULL) abort();
  memcpy(settings.runtime_dir, settings.state_dir, sizeof settings.runtime_dir);
  open_keeper();
  worker = (struct worker){.keeper = &keeper, .settings = &settings};
  settings_path(settings.state_dir, "kept", path);
  if (mkdir(path, 0700) != 0 || budget_open(&worker, &worker.budget) != 0 ||
      pipeline_open(&worker) != 0)
    abort();
  atexit(clean_up);
}

/* Makes a file of this daemon's version; its pid is this process if it is to be alive. */
static uint8_t *make(unsigned flags, size_t *ret_size) {
  struct proc_stat stat;
  const struct histogram_note nobodys = {RUN, 1 << 20};
  const struct hold_target held = {.collect = flags & IS_HISTOGRAM ? RING_HISTOGRAM : RING_RECORDER,
                                   .clock = RING_CLOCK_THREAD,
                                   .period_ns = PERIOD_NS};
  const struct ring_terms terms = {.period_ns = PERIOD_NS,
                                   .unit_ns = timer_ring_unit_ns(&held),
                                   .signal = (int)timer_ring_signal(&held)};
  uint8_t *ring = kept_rings_make(flags & IS_HISTOGRAM, nobodys, &terms, ret_size);
  struct image_table *image = image_table_of(ring);
  if ((flags & IS_ALIVE) && proc_stat_read(getpid(), &stat) == 0) {
    image->pid = getpid();
    image->start_boottime_ns = proc_ticks_to_ns(stat.start_ticks);
  }
  return ring;
}

static struct target *find_target(void) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++)
    if (worker.targets.rows[row] != NULL) return worker.targets.rows[row];
  return NULL;
}

static void check_books(void) {
  const struct counters *books = counter_page_books(keeper.page);
  static uint64_t acked;
  struct spool_item item;
  while (spool_next(worker.spool, &item) == 0) {
    acked += item.records;
    spool_ack(worker.spool, item.run, item.seq);
  }
  if (books->produced != books->shipped + loss_total(books)) abort();
  if (acked != books->shipped) abort();
}

/* A worker's operations on a target, from its first tick to its last. */
static void use(struct target *target, const uint8_t *data, size_t len) {
  if (target->held.pid <= 0 || rate_period_ns(target) < RATE_PERIOD_NS_MIN) abort();
  drain_run(&worker.drain);
  patches_apply(target->ring.base, timer_ring_bytes(&target->held), data, len);
  switch_target(target, RING_PAUSE);
  rate_wish(target, 2 * PERIOD_NS);
  switch_timers_left(target);
  drain_run_whole(&worker.drain);
  shipper_close_window(&worker.shipper, false);
  sweep_end_target(&worker, target);
  shipper_close_window(&worker.shipper, false);
}

/* Descriptors of kept files and of lists of mappings; the keeper's are among them. */
static unsigned count_fds(void) {
  unsigned count = 0;
  char path[64], where[256];
  for (int fd = 0; fd < FDS_MAX; fd++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(path, where, sizeof where - 1);
    where[len > 0 ? len : 0] = '\0';
    count += strstr(where, "/kept/") != NULL || strstr(where, "/maps") != NULL;
  }
  return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  char path[KEPT_RINGS_PATH_BYTES];
  size_t size;
  if (len < 3) return 0;
  if (keeper.page == NULL) open_worker();
  uint8_t *ring = make(data[0], &size);
  size_t cut = (size_t)data[1] | (size_t)data[2] << 8, half = (len - 3) / 2;
  patches_apply(ring, size, data + 3, len - 3 - half);
  kept_rings_path(settings.state_dir, NULL, data[0] & IS_HISTOGRAM, path);
  int fd = kept_rings_leave(path, ring, size - cut % size);
  void *mapped = mmap(NULL, size - cut % size, PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort();
  kept_ship_settle(&worker.shipper, settings.state_dir);
  kept_adopt(&worker);
  struct target *target = find_target();
  if ((target == NULL) != (access(path, F_OK) == 0)) abort(); /* it has another name then */
  if (target != NULL) use(target, data + len - half, half);
  munmap(mapped, size - cut % size);
  close(fd);
  kept_ship_left(&worker.shipper, settings.state_dir);
  unlink(path);
  free(ring);
  check_books();
  if (count_fds() != 0 || find_target() != NULL) abort();
  return 0;
}
