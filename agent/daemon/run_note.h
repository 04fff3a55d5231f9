/* SPDX-License-Identifier: Apache-2.0 */
/* What `run` told of its program, and what the targets that are part of it came to. */
#ifndef DAEMON_RUN_NOTE_H
#define DAEMON_RUN_NOTE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct intake_packet;
struct target;
struct worker;
struct worker_note;

/* Notes that PACKET's program runs by SAMPLER. */
void run_note_add(struct worker *worker, const struct intake_packet *packet, const char *sampler);
/* The newest note for PID; for PID or the nearest of its ancestors.  NULL when there is none. */
struct worker_note *run_note_find_pid(struct worker *worker, pid_t pid);
struct worker_note *run_note_find(struct worker *worker, pid_t pid);
/* A new TARGET belongs to the run that it is part of; before it is let go of, the run's note takes
   over its figures. */
void run_note_join(struct worker *worker, struct target *target);
void run_note_leave(struct worker *worker, const struct target *target);
/* How many samples the run of NOTE has, of targets that live and of those that do not. */
uint64_t run_note_samples(const struct worker *worker, const struct worker_note *note);
/* A recording into a file, which ends with its program, and others of the tree still run. */
bool run_note_has_gone_on(struct worker *worker);
/* The run has ended and spent TOLD_NS: reports what is not explained of that, once. */
void run_note_tell(struct worker *worker, struct worker_note *note, uint64_t told_ns);

#endif
