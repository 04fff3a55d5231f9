/* SPDX-License-Identifier: Apache-2.0 */
/* State that must outlive the worker: the descriptors of rings and perf events, and their targets.
   The supervisor owns the table.  A worker is forked from the supervisor, so it has the table and
   the descriptors in its own memory; it updates the supervisor's table by messages over a socket
   pair. */
#ifndef KEEPER_HOLD_H
#define KEEPER_HOLD_H

#include "intake/intake_format.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  HOLD_TARGETS_MAX = 256,
  HOLD_FILES_MAX = 128,       /* descriptors of the sampled files of a recording into a file */
  HOLD_ACK_TIMEOUT_MS = 2000, /* for the supervisor, which does nothing else */
};

enum hold_kind {
  HOLD_TIMER = 1,
  HOLD_PERF = 2,
  HOLD_BOARD = 3, /* events on all processes (--system); without a process */
};

/* One target as registered: plain bytes, sent as they are. */
struct hold_target {
  uint32_t id; /* never 0, never reused in a run */
  uint32_t kind;
  int32_t pid; /* the program that registered, or that `run` started */
  uint32_t uid;
  uint64_t start_ticks;    /* of that pid, /proc/PID/stat: distinguishes it from a later process */
  uint64_t period_ns;      /* as requested */
  uint64_t set_period_ns;  /* as set since (rate.h), or 0 */
  uint64_t wish_period_ns; /* as requested since by ctl, or 0 */
  uint32_t asked_mhz;
  bool is_auto_rate;     /* of a run without a rate: targets/rate.h */
  uint32_t collect;      /* enum ring_collect */
  uint32_t unwind;       /* enum unwind_choice */
  uint32_t content;      /* of perf samples: enum perf_content */
  uint32_t clock;        /* HOLD_TIMER: enum ring_clock */
  uint64_t start_cpu_ns; /* used before it registered, or before its events were opened */
  uint64_t adopted_ns;   /* HOLD_PERF: CLOCK_BOOTTIME of the adoption of a running program, or 0 */
  uint32_t behind;       /* HOLD_TIMER: id of the perf target that it is the standby of, or 0 */
  uint32_t inside;       /* HOLD_PERF: id of the perf target with it in its tree, or 0 */
  uint32_t falls;        /* number of fallbacks (ladder.c) */
  uint32_t slot_count, slot_bytes;              /* HOLD_TIMER; histogram: 0, 0 */
  uint32_t bin_bytes, counter_bytes, bin_count; /* histogram */
  uint32_t is_file;      /* histogram, recorder: in the state directory, not a memfd */
  uint64_t unit_ns;      /* HOLD_TIMER: time of a weight of 1 */
  uint64_t begin_cpu_ns; /* HOLD_TIMER: used by its process before this program */
  uint32_t filters;      /* HOLD_TIMER: its seccomp filters at registration */
  uint32_t control;      /* enum ring_control: as requested */
  bool is_killed;        /* the kill switch has stopped it */
  bool has_paused;       /* on purpose; a rest may include that time (targets/pause.h) */
  bool is_apart;         /* HOLD_PERF: a worker has opened events on its threads instead of these */
  uint32_t fd_count;
  uint32_t region_fd_count; /* HOLD_TIMER: 1 more, unwind_map.h's; or none */
  uint32_t exit_fd_count;   /* HOLD_PERF: 2 more, perf_exits.h's anchor and event; or none */
  char service[INTAKE_SERVICE_BYTES];
  char labels[INTAKE_LABELS_BYTES];
  char exe[INTAKE_PATH_BYTES];
  char why[INTAKE_WHY_BYTES];
  char argv[INTAKE_ARGV_BYTES]; /* only for this machine's status: it may contain secrets */
  uint32_t argv_quality;        /* enum intake_argv */
};

struct hold_entry {
  struct hold_target target;
  int fds[]; /* HOLD_TIMER: memfd, maps, regions; HOLD_PERF, HOLD_BOARD: one event per CPU, or per
                thread and CPU for an adopted program */
};

static inline uint32_t hold_fds(const struct hold_target *target) {
  return target->fd_count + target->region_fd_count + target->exit_fd_count;
}

/* Makes TARGET, a copy of another target's description, one without descriptors. */
static inline void hold_clear_fds(struct hold_target *target) {
  target->fd_count = target->region_fd_count = target->exit_fd_count = 0;
}
/* Closes FDS, those of TARGET, which then has none. */
void hold_close_fds(struct hold_target *target, const int *fds);

struct hold_table {
  struct hold_entry *entries[HOLD_TARGETS_MAX]; /* NULL: free */
  uint32_t last_id;                             /* the largest id so far */
  int files[HOLD_FILES_MAX];                    /* a ring of the newest files */
  uint32_t file_count;                          /* files held so far */
};

/* Copies TARGET into TABLE and takes ownership of its FDS.  Returns the entry, or NULL if TABLE or
   memory is full (the caller then still owns FDS). */
struct hold_entry *hold_table_add_take(struct hold_table *table, const struct hold_target *target,
                                       const int *fds);
void hold_table_fini(struct hold_table *table);

/* After a worker's death: restarts the targets' events that it had replaced by events on
   threads. */
void hold_table_switch_back(const struct hold_table *table);

/* Worker: requests the supervisor at the other end of SOCKET to hold a copy of FDS, or to drop ID,
   and waits for the answer.  Returns 0 or -errno; -ETIMEDOUT: the supervisor is late, and will not
   hold it.  If the supervisor is slow, 0 means that it will read this request after the earlier
   one. */
int hold_send_keep(int socket, const struct hold_target *target, const int *fds);
int hold_send_drop(int socket, uint32_t id);
/* Updates the description of TARGET there. */
int hold_send_update(int socket, const struct hold_target *target);

/* Requests the supervisor to hold a copy of FD, a file, until it ends.  Each file is held once;
   beyond HOLD_FILES_MAX the oldest is closed. */
int hold_send_file(int socket, int fd);

/* Worker: discards late answers.  Returns true if the supervisor is gone. */
bool hold_has_ended(int socket);

/* Supervisor: handles one message on SOCKET.  Returns 0, -EAGAIN if there is none, -ECONNRESET at
   the end. */
int hold_serve(int socket, struct hold_table *table);

#endif
