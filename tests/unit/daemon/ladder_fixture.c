/* SPDX-License-Identifier: Apache-2.0 */
#include "ladder_fixture.h"

#include "common/arena.h"
#include "common/buf.h"
#include "daemon/budget.h"
#include "daemon/pipeline.h"
#include "daemon/regions.h"
#include "daemon/registrar.h"
#include "proc/proc_stat.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"
#include "targets/timer_ring.h"
#include "walk/table_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPEND_TRIES = 3000, BOOKS_RUN = 7 };

struct ladder_bench *bench;

static void *hold(void *nothing) {
  struct pollfd end = {.fd = bench->holder_socket, .events = POLLIN};
  while (poll(&end, 1, -1) >= 0)
    if (hold_serve(bench->holder_socket, &bench->keeper.held) == -ECONNRESET) break;
  return nothing;
}

static int open_keeper(struct keeper *keeper, const struct settings *settings) {
  char path[SETTINGS_PATH_BYTES];
  int ends[2];
  *keeper = (struct keeper){.settings = settings, .output = -1, .listener = -1, .run = BOOKS_RUN};
  settings_path(settings->runtime_dir, "books", path);
  if (counter_page_open(path, BOOKS_RUN, &keeper->page) != 0) return -1;
  perf_rings_open(&keeper->perf);
  for (unsigned i = 0; i < keeper->perf.count; i++) /* the worker maps them itself */
    perf_ring_unmap(&keeper->perf.cpus[i], keeper->perf.pages);
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
  bench->holder_socket = ends[0];
  keeper->worker_socket = ends[1];
  return pthread_create(&bench->holder, NULL, hold, NULL);
}

int ladder_make(void **state) {
  struct settings *settings;
  (void)state;
  bench = calloc(1, sizeof *bench);
  if (bench == NULL) return -1;
  bench->program = program_start();
  settings = &bench->settings;
  settings->hz = 99;
  settings->spool_bytes = 16 << 20;
  snprintf(settings->state_dir, sizeof settings->state_dir, "/tmp/ladder-test-XXXXXX");
  if (mkdtemp(settings->state_dir) == NULL) return -1;
  memcpy(settings->runtime_dir, settings->state_dir, sizeof settings->runtime_dir);
  if (open_keeper(&bench->keeper, settings) != 0) return -1;
  bench->worker.keeper = &bench->keeper;
  bench->worker.settings = settings;
  if (budget_open(&bench->worker, &bench->worker.budget) != 0) return -1;
  return pipeline_open(&bench->worker);
}

int ladder_unmake(void **state) {
  struct worker *worker = &bench->worker;
  char command[SETTINGS_PATH_BYTES + 16];
  (void)state;
  program_end(bench->program);
  regions_close(worker->regions);
  targets_fini(&worker->targets);
  drain_fini(&worker->drain);
  window_free(worker->window);
  processes_free(worker->processes);
  modules_free(worker->modules);
  table_store_free(worker->tables);
  spool_close(worker->spool);
  budget_close(worker->budget);
  shutdown(bench->keeper.worker_socket, SHUT_RDWR); /* programs have copies */
  close(bench->keeper.worker_socket);
  pthread_join(bench->holder, NULL);
  close(bench->holder_socket);
  hold_table_fini(&bench->keeper.held);
  perf_rings_close(&bench->keeper.perf);
  counter_page_close(bench->keeper.page);
  snprintf(command, sizeof command, "rm -rf '%s'", bench->settings.state_dir);
  free(bench);
  return system(command);
}

static void work(void) {
  volatile uint64_t sink = 0;
  for (;;) sink++;
}

/* Forks a program that does not outlive a test that failed. */
static pid_t fork_program(void) {
  pid_t pid = fork();
  if (pid == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

pid_t program_start(void) {
  pid_t pid = fork_program();
  if (pid == 0) work();
  assert_true(pid > 0);
  return pid;
}

pid_t program_start_two(pid_t *ret_child) {
  int ends[2];
  pid_t child = 0;
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  pid_t pid = fork_program();
  if (pid == 0) {
    child = fork();
    if (child != 0 && write(ends[1], &child, sizeof child) != sizeof child) _exit(1);
    work();
  }
  close(ends[1]);
  assert_int_equal(read(ends[0], &child, sizeof child), sizeof child);
  close(ends[0]);
  *ret_child = child;
  return pid;
}

void program_end(pid_t pid) {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

void program_spend(pid_t pid, uint64_t ms) {
  uint64_t end = proc_cpu_ns(pid) + ms * 1000000;
  for (unsigned tries = 0; tries < SPEND_TRIES && proc_cpu_ns(pid) < end; tries++)
    nanosleep(&(struct timespec){0, 10000000}, NULL);
  assert_true(proc_cpu_ns(pid) >= end);
}

struct hold_target held_of(pid_t pid) {
  struct proc_stat stat;
  struct hold_target held = {.kind = HOLD_PERF,
                             .pid = pid,
                             .uid = geteuid(),
                             .asked_mhz = 99000,
                             .period_ns = 10101010,
                             .control = RING_RUN,
                             .service = "shop",
                             .exe = "/bin/shop"};
  assert_int_equal(proc_stat_read(pid, &stat), 0);
  held.start_ticks = stat.start_ticks;
  return held;
}

struct perf_running running_of(pid_t pid) {
  struct perf_running running = {.count = 1};
  running.processes[0].pid = pid;
  running.processes[0].start_ticks = held_of(pid).start_ticks;
  return running;
}

struct target *begin_perf(pid_t pid) {
  struct hold_target held = held_of(pid);
  struct target *target = ladder_begin(&bench->worker, &held);
  assert_non_null(target);
  return target;
}

struct target *begin_ring(pid_t pid, uint32_t behind, enum ring_control control) {
  struct hold_target held = held_of(pid);
  held.kind = HOLD_TIMER;
  held.id = bench->worker.targets.next_id++;
  held.behind = behind;
  held.control = control;
  held.unit_ns = held.period_ns;
  held.fd_count = 2;
  timer_ring_size(&held, 0);
  int fds[2] = {timer_ring_make(&held), open("/proc/self/maps", O_RDONLY | O_CLOEXEC)};
  struct target *target = registrar_take(&bench->worker, &held, fds);
  assert_non_null(target);
  target->exit.begun_ns = 1;
  assert_non_null(processes_get(bench->worker.processes, pid, held.id, -1));
  return target;
}

void step(void) {
  bench->worker.stepped_ns = 0;
  drain_run(&bench->worker.drain);
  ladder_step(&bench->worker);
}

struct target *perf_of(pid_t pid) {
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) {
    struct target *target = bench->worker.targets.rows[row];
    if (target != NULL && target->held.pid == pid && target->held.kind == HOLD_PERF) return target;
  }
  return NULL;
}

uint64_t counted_by(const struct target *target) {
  uint64_t sum = 0, one;
  for (uint32_t i = 0; i < target->held.fd_count; i++)
    if (perf_event_read_ns(target->fds[i], &one) == 0) sum += one;
  return sum;
}

static uint64_t weigh(const struct spool_item *item) {
  char why[128] = "";
  struct batch batch;
  struct arena arena;
  struct buf raw = {0};
  uint64_t sum = 0;
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(decompress(item->zstd, item->raw_len, LIMIT_BATCH_RAW_BYTES, &raw), 0);
  assert_int_equal(batch_decode(buf_span(&raw), &arena, &batch, why, sizeof why), 0);
  for (uint32_t i = 0; i < batch.sample_count; i++) sum += batch.samples[i].weight;
  arena_fini(&arena);
  buf_fini(&raw);
  return sum;
}

uint64_t shipped_ns(void) {
  struct spool_item item;
  uint64_t sum = 0;
  shipper_close_window(&bench->worker.shipper, false);
  while (spool_next(bench->worker.spool, &item) == 0) {
    sum += weigh(&item);
    spool_ack(bench->worker.spool, item.run, item.seq);
  }
  return sum;
}

unsigned descriptors(void) {
  unsigned count = 0;
  DIR *list = opendir("/proc/self/fd");
  assert_non_null(list);
  while (readdir(list) != NULL) count++;
  closedir(list);
  return count;
}
