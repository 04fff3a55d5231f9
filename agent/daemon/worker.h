/* SPDX-License-Identifier: Apache-2.0 */
/* The worker: all work of the daemon, on one libevent loop. */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include "flush.h"
#include "refusals.h"
#include "run_note.h"
#include "shipper.h"

#include "drain/drain.h"
#include "keeper/keeper.h"
#include "proc/mount_info.h"
#include "uplink/boot_times.h"
#include "uplink/known_time.h"
#include "uplink/uplink.h"

#include <sys/types.h>
#include <sys/utsname.h>

struct budget;
struct event;
struct event_base;
struct intake;
struct regions;

enum {
  WORKER_NOTES_MAX = 64,         /* runs on record */
  WORKER_RUN_BATCHES_MAX = 1024, /* pending batches with samples of runs */
  WORKER_FLUSHES_MAX = 64,       /* callers that wait at once, */
  WORKER_FLUSHES_OF_USER = 16,   /* of one user in a daemon for all users, except root */
  WORKER_EXIT_DONE = 0,          /* the daemon ends */
  WORKER_EXIT_FAILED = 1,        /* start another worker */
};

/* Files that the supervisor holds (pipeline.c), and the mounts at the start. */
struct worker_files {
  uint32_t count; /* files held so far */
  struct {
    dev_t device;
    ino_t inode;
  } rows[HOLD_FILES_MAX];
  struct mount_ids mounts;
};

struct worker {
  struct keeper *keeper;
  const struct settings *settings;
  struct event_base *loop;
  struct event *tick, *terminate, *interrupt, *keeper_gone, *child_gone;
  struct spool *spool;
  struct profile_file file; /* open if the supervisor has an output */
  struct worker_files files;
  struct debug_sender *debug;
  struct budget *budget;
  struct uplink *uplink;
  struct intake *intake;
  struct targets targets;
  struct modules *modules;
  struct processes *processes;
  struct table_store *tables;
  struct regions *regions;
  struct window *window;
  struct drain drain;
  struct shipper shipper;
  struct worker_note notes[WORKER_NOTES_MAX];
  uint32_t last_note;                                   /* serial */
  struct run_batch run_batches[WORKER_RUN_BATCHES_MAX]; /* oldest first */
  unsigned run_batch_count;
  struct worker_flush flushes[WORKER_FLUSHES_MAX];
  struct known_time time;
  struct boot_times boots;
  char collector[SETTINGS_PATH_BYTES], certificate[SETTINGS_PATH_BYTES];
  char key[SETTINGS_PATH_BYTES], ca[SETTINGS_PATH_BYTES], kill_path[SETTINGS_PATH_BYTES];
  struct utsname machine;
  struct label labels[OPTION_LIST_MAX]; /* the given ones, and the board's firmware version */
  char label_text[OPTION_LIST_MAX][256];
  uint32_t label_count;
  uint64_t stacks_told_ns[STACK_END_COUNT]; /* as last reported to the collector (hello.c) */
  long tick_ms;                             /* until the next tick */
  uint64_t start_ns;                        /* CLOCK_MONOTONIC, as all below */
  uint64_t live_ns, busy_ns;                /* last time with a target; last time with a record */
  uint64_t swept_ns, left_ns, looked_ns, stepped_ns, stepped_young_ns;
  uint64_t closed_ns;                       /* when the last window ended */
  uint64_t file_since_ns;                   /* CLOCK_BOOTTIME of the first sample of a file */
  bool is_killed;                           /* the kill switch is on (switchboard.c) */
  bool is_waking;                           /* a program must be woken: short ticks */
  uint64_t stop_by_ns, obey_by_ns;          /* not 0: stopping; programs have time to obey */
  struct refusals refusals;                 /* since this worker started */
  uint64_t targets_seen, threads_unsampled; /* since this worker started; of ended targets */
};

/* The supervisor's worker function.  Runs until TERM, until the supervisor is gone, or until an
   on-demand daemon has no more work. */
int worker_run(struct keeper *keeper);

/* Returns the milliseconds until the next tick, at the time NOW. */
long worker_tick_ms(const struct worker *worker, uint64_t now);

/* A new target exists: ticks soon, if its ring may need that. */
void worker_hurry(struct worker *worker);

/* Drains all rings, reports due residuals, spools the window.  Returns 0 or -errno. */
int worker_close_window(struct worker *worker);
/* As worker_close_window, with all contents of histograms, and final counters. */
int worker_close_last_window(struct worker *worker);

#endif
