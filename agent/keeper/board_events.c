/* SPDX-License-Identifier: Apache-2.0 */
/* One CPU clock per CPU sees every process and the kernel, without a preload and without any change
   to programs.  The events use the rings that exist for the programs of `fleetprof run`, so a board
   costs no more locked memory.  An ordinary user with CAP_PERFMON, or with perf_event_paranoid at 0
   or less, may use them too.

   The supervisor owns them: when a worker dies, its successor finds them running, with the records
   since then in the rings.  The first worker enables them when it is ready to drain: until then a
   busy board fills a ring (in 0.8 s of many short programs 21 638 records were lost).  If they
   cannot be opened, the start fails, because the user requested them by name: a daemon that
   silently saw less than the board would be worse than none. */
#include "board_events.h"

#include "common/clock.h"
#include "intake/perf_attr.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int explain(int failure, char *error, size_t error_len) {
  const char *mend = failure == -EACCES || failure == -EPERM
                         ? ": run it as root, give it CAP_PERFMON (and CAP_SYSLOG for the kernel's "
                           "names), or set kernel.perf_event_paranoid to 0"
                         : "";
  snprintf(error, error_len, "--system: the whole board cannot be sampled: %s%s",
           strerror(-failure), mend);
  return failure;
}

static void close_all(const int *fds, unsigned count) {
  for (unsigned i = 0; i < count; i++) close(fds[i]);
}

/* Returns the number of opened events, or -errno. */
static int open_all(const struct perf_rings *rings, const struct hold_target *board,
                    int fds[PERF_CPUS_MAX]) {
  struct perf_event_attr attr;
  perf_attr_fill_board(&attr, board->period_ns);
  perf_attr_ask(&attr, (enum perf_content)board->content);
  for (unsigned i = 0; i < rings->count; i++) {
    int failure = fds[i] = perf_attr_open(&attr, -1, rings->cpus[i].cpu);
    if (fds[i] >= 0) failure = perf_ring_redirect(&rings->cpus[i], fds[i]);
    if (failure < 0) {
      close_all(fds, fds[i] >= 0 ? i + 1 : i);
      return failure;
    }
  }
  return (int)rings->count;
}

/* In the kernel, the kernel's own call chain is used. */
static enum perf_content board_content(const struct settings *settings) {
  return (enum perf_content)(perf_attr_content(false, settings->unwind) | PERF_CONTENT_KERNEL);
}

int board_events_open(const struct perf_rings *rings, const struct settings *settings,
                      struct hold_table *held, char *error, size_t error_len) {
  int fds[PERF_CPUS_MAX];
  if (rings->count == 0) {
    snprintf(error, error_len, "--system: the whole board cannot be sampled: %s", rings->why);
    return -ENOTSUP;
  }
  struct hold_target board = {.id = held->last_id + 1,
                              .kind = HOLD_BOARD,
                              .uid = (uint32_t)geteuid(),
                              .asked_mhz = (uint32_t)settings->system_hz * 1000,
                              .period_ns = NS_PER_SECOND / settings->system_hz,
                              .unwind = settings->unwind,
                              .content = board_content(settings),
                              .fd_count = rings->count};
  int count = open_all(rings, &board, fds);
  if (count < 0) return explain(count, error, error_len);
  if (hold_table_add_take(held, &board, fds) != NULL) return 0;
  close_all(fds, (unsigned)count);
  return explain(-ENOMEM, error, error_len);
}

void board_events_start(const int *fds, unsigned count) {
  for (unsigned i = 0; i < count; i++) ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0);
}
