/* SPDX-License-Identifier: Apache-2.0 */
/* What must outlive the worker: the descriptors of rings and perf events, and who they belong to.
   The keeper owns the table; a worker is forked from the keeper, so it finds the table and the
   descriptors in its own memory, and adds to the keeper's by messages over a socket pair. */
#ifndef KEEPER_HOLD_H
#define KEEPER_HOLD_H

#include "intake/intake_format.h"

#include <stdbool.h>
#include <stdint.h>

enum {
  HOLD_TARGETS_MAX = 256,
  HOLD_FILES_MAX = 128,       /* descriptors of files that a recording into a file has sampled */
  HOLD_ACK_TIMEOUT_MS = 2000, /* for the keeper, which does nothing else */
};

enum hold_kind {
  HOLD_TIMER = 1,
  HOLD_PERF = 2,
  HOLD_BOARD = 3, /* events on all that runs (--system); of no process */
};

/* One target as it was registered: plain old bytes, travels as they are. */
struct hold_target {
  uint32_t id; /* never 0, never used again in a run */
  uint32_t kind;
  int32_t pid; /* the program that registered, or that run started */
  uint32_t uid;
  uint64_t start_ticks;    /* of that pid, /proc/PID/stat: tells it from a later one */
  uint64_t period_ns;      /* as asked */
  uint64_t set_period_ns;  /* as set since (rate.h), or 0 */
  uint64_t wish_period_ns; /* as asked since by ctl, or 0 */
  uint32_t asked_mhz;
  bool is_auto_rate;     /* of a run without a rate: targets/rate.h */
  uint32_t collect;      /* enum ring_collect */
  uint32_t unwind;       /* enum unwind_choice */
  uint32_t content;      /* of perf samples: enum perf_content */
  uint32_t clock;        /* HOLD_TIMER: enum ring_clock */
  uint64_t start_cpu_ns; /* spent before it registered, or before its events were opened */
  uint64_t adopted_ns;   /* HOLD_PERF: CLOCK_BOOTTIME when that was, of a program that ran; or 0 */
  uint32_t behind;       /* HOLD_TIMER: id of the perf target that it stands in for, or 0 */
  uint32_t inside;       /* HOLD_PERF: id of the perf target whose tree it is a part of, or 0 */
  uint32_t falls;        /* down the ladder (ladder.c) */
  uint32_t slot_count, slot_bytes;              /* HOLD_TIMER; histogram: 0, 0 */
  uint32_t bin_bytes, counter_bytes, bin_count; /* histogram */
  uint32_t is_file;      /* histogram, recorder: it is in the state directory, not a memfd */
  uint64_t unit_ns;      /* HOLD_TIMER: what a weight of 1 stands for */
  uint64_t begin_cpu_ns; /* HOLD_TIMER: what its process had spent before it was this program's */
  uint32_t filters;      /* HOLD_TIMER: seccomp filters that it had already */
  uint32_t control;      /* enum ring_control: as wished */
  bool is_killed;        /* the kill switch has stopped it */
  bool has_paused;       /* on purpose; a rest may yet have time of that (targets/pause.h) */
  bool is_apart;         /* HOLD_PERF: a worker has put events on its threads in place of these */
  uint32_t fd_count;
  uint32_t region_fd_count; /* HOLD_TIMER: 1 more, unwind_map.h's; or none */
  uint32_t exit_fd_count;   /* HOLD_PERF: 2 more, perf_exits.h's anchor and event; or none */
  char service[INTAKE_SERVICE_BYTES];
  char labels[INTAKE_LABELS_BYTES];
  char exe[INTAKE_PATH_BYTES];
  char why[INTAKE_WHY_BYTES];
  char argv[INTAKE_ARGV_BYTES]; /* for this machine's status only: it may hold secrets */
  uint32_t argv_quality;        /* enum intake_argv */
};

struct hold_entry {
  struct hold_target target;
  int fds[]; /* HOLD_TIMER: memfd, maps, regions; HOLD_PERF, HOLD_BOARD: one event a CPU, of a
               program that ran already one a thread and CPU */
};

static inline uint32_t hold_fds(const struct hold_target *target) {
  return target->fd_count + target->region_fd_count + target->exit_fd_count;
}

/* TARGET, a copy of another's description, has no descriptors of its own yet. */
static inline void hold_clear_fds(struct hold_target *target) {
  target->fd_count = target->region_fd_count = target->exit_fd_count = 0;
}
/* Closes FDS, those of TARGET, which has none then. */
void hold_close_fds(struct hold_target *target, const int *fds);

struct hold_table {
  struct hold_entry *entries[HOLD_TARGETS_MAX]; /* NULL: free */
  uint32_t last_id;                             /* the largest ever held */
  int files[HOLD_FILES_MAX];                    /* a ring of the newest */
  uint32_t file_count;                          /* ever held */
};

/* Copies TARGET into TABLE and takes over its FDS.  Returns the entry, or NULL when TABLE or memory
   is full (the FDS are then still the caller's). */
struct hold_entry *hold_table_add_take(struct hold_table *table, const struct hold_target *target,
                                       const int *fds);
void hold_table_fini(struct hold_table *table);

/* The worker is dead, and with it the events that it had put on threads: starts the events of those
   targets again that it had stopped for them. */
void hold_table_switch_back(const struct hold_table *table);

/* Worker: asks the keeper at the other end of SOCKET to hold a copy of FDS, or to drop ID;
   waits for the answer.  Returns 0 or -errno; -ETIMEDOUT: the keeper is late, and will not hold it.
   If the keeper is slow, 0 says that it will read this request after the earlier one. */
int hold_send_keep(int socket, const struct hold_target *target, const int *fds);
int hold_send_drop(int socket, uint32_t id);
/* TARGET is known there: its description has changed. */
int hold_send_update(int socket, const struct hold_target *target);

/* Asks the keeper to hold a copy of FD, a file, until it ends: each file once, and beyond
   HOLD_FILES_MAX the oldest one is closed. */
int hold_send_file(int socket, int fd);

/* Worker: takes away answers that came too late.  Returns true when the keeper is gone. */
bool hold_has_ended(int socket);

/* Keeper: does what one message on SOCKET says.  Returns 0, -EAGAIN when there is none, -ECONNRESET
 * at the end. */
int hold_serve(int socket, struct hold_table *table);

#endif
