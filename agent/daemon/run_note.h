/* SPDX-License-Identifier: Apache-2.0 */
/* Launch records: the choice of each `run`, and the results of the targets in it. */
#ifndef DAEMON_RUN_NOTE_H
#define DAEMON_RUN_NOTE_H

#include "intake/intake_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct intake_packet;
struct target;
struct worker;

/* Samples of one run: by its timers, and by perf if that took over. */
struct run_samples {
  uint64_t by_agent, by_perf;
  uint64_t shown_ns; /* CPU time that is not [unsampled] */
};

/* Records of a run in a batch that waits in the spool. */
struct run_batch {
  uint64_t seq, records;
  uint32_t note; /* serial */
};

#define RUN_NOTE_YOUNG_NS (300 * NS_PER_MS)

/* One `run`: its sampler and why, and the CPU time that the targets of its tree account for. */
struct worker_note {
  uint32_t serial; /* 0: free */
  uint32_t outer;  /* the record of the enclosing run, or 0 */
  int32_t pid;
  uint32_t target; /* id under which its rest is reported */
  uint32_t uid, asked_mhz, collect, unwind;
  uint64_t start_ticks, begun_ns; /* of that pid; CLOCK_MONOTONIC of the record */
  bool is_looked_at, is_told;     /* by ladder.c; the program has ended and its rest is reported */
  bool is_flushed;                /* its end was reported, whatever its sampler */
  bool is_auto_rate;              /* asked_mhz is the initial rate (targets/rate.h) */
  bool is_refused;                /* its agent got no ring; why has the reason */
  bool is_partial;                /* the same for a program that it started */
  bool is_met;                    /* a sampler reached the program itself */
  uint64_t spooled, lost; /* samples put into batches; of those, not in the spool and not acked */
  uint64_t spent_ns;      /* CPU time of the run, as reported by `run` at its end, or 0 */
  uint64_t explained_ns;  /* by targets that have ended */
  uint64_t stray_look_ns, stray_pause_ns; /* when ladder.c looks for strays, and how often */
  uint64_t stray_ns;                      /* the CPU time of unsampled strays */
  unsigned strays;                        /* that perf was opened for */
  uint32_t marks; /* enum batch_mark: why time of targets that have ended is [unsampled] */
  struct run_samples samples; /* of targets that have ended */
  char sampler[16],
      begun_as[16]; /* the name that the program was started by, cut as by the kernel */
  char service[INTAKE_SERVICE_BYTES];
  char labels[INTAKE_LABELS_BYTES];
  char exe[INTAKE_PATH_BYTES];
  char why[INTAKE_WHY_BYTES];
  char refusal[INTAKE_WHY_BYTES]; /* the collector's last reason for refusing its samples, or "" */
};

/* Records that PACKET's program runs by SAMPLER with a requested rate of ASKED_MHZ (not 0).
   Returns NULL, or the reason if there is no record. */
const char *run_note_add(struct worker *worker, const struct intake_packet *packet,
                         const char *sampler, uint32_t asked_mhz);
/* Begins a window for a run of UID that begins.  Otherwise its samples could be in a window that
   began up to a minute before.  The middle of that window could be outside of the run's time
   (cli/run_url.c).  A window that has just begun continues.  In a daemon for all users, all users
   pay for windows.  So a window continues until it is ten seconds old, except for root. */
void run_note_begin_window(struct worker *worker, uint32_t uid);
/* The samples that runs have taken since the last batch are in batch SEQ; 0: they are in none, and
   lost. */
void run_note_on_batch(void *worker, uint64_t seq);
/* The collector has acked batch SEQ of this daemon's run (REFUSAL is NULL), or refused it
   permanently. */
void run_note_on_answer(struct worker *worker, uint64_t seq, const char *refusal);
/* Returns how many samples of the run with the note SERIAL were in batches up to SEQ that the
   collector does not have. Call it when none of these is pending. RET: its reason for refusing some
   of them, or "". */
uint64_t run_note_lost(struct worker *worker, uint32_t serial, uint64_t seq,
                       char ret[INTAKE_WHY_BYTES]);
/* Return the newest note for PID; for PID or the nearest of its ancestors. NULL if there is
   none. */
struct worker_note *run_note_find_pid(struct worker *worker, pid_t pid);
struct worker_note *run_note_find(struct worker *worker, pid_t pid);
/* The agent of program PID, possibly in a run, gets no ring because of WHY. */
void run_note_refuse(struct worker *worker, pid_t pid, const char *why);
/* Assigns a new TARGET to its run; and, before it is removed, adds its figures to the run's record
   and to the enclosing target. */
void run_note_join(struct worker *worker, struct target *target);
void run_note_leave(struct worker *worker, const struct target *target);
/* Returns whether the program of NOTE still runs. */
bool run_note_does_run(const struct worker_note *note);
/* Returns whether the program of any run still runs. */
bool run_note_is_any_running(const struct worker *worker);
/* Returns whether a run began within RUN_NOTE_YOUNG_NS, so that its files may have no unwind tables
   yet. */
bool run_note_is_any_young(const struct worker *worker, uint64_t now_ns);
/* Returns the number of samples of NOTE's run, from live and ended targets. */
struct run_samples run_note_samples(const struct worker *worker, const struct worker_note *note);
/* Writes the names of samplers that produced SAMPLES, for `run`; if none did, the chosen one. */
void run_note_samplers(const struct worker_note *note, const struct run_samples *samples,
                       char ret[INTAKE_SAMPLERS_BYTES]);
/* Writes the [unsampled] part of NOTE's run, which has ended, and its reason; "" if it is less than
   a tenth. */
void run_note_unsampled(const struct worker *worker, const struct worker_note *note,
                        char ret[INTAKE_WHY_BYTES]);
/* Returns the number of its targets: after the run's end, those that continue in the background. */
unsigned run_note_living(const struct worker *worker, const struct worker_note *note);
/* Returns whether this is a recording into a file, which ends with its program, and other programs
   of the tree still run. */
bool run_note_has_gone_on(struct worker *worker);
/* The run has ended and used TOLD_NS of CPU time: reports the part that is not accounted for,
   once. */
void run_note_tell(struct worker *worker, struct worker_note *note, uint64_t told_ns);

#endif
