/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: made on the loop from a whole frame, processed by one thread, freed on the loop.

   A frame is decoded into the job's own arena. So a job can outlive the session's input buffer and
   the session itself, and the memory of a queue is bounded by counting arenas. No locks are needed:
   a job has one owner at a time, and the queues hand it over. */
#include "job.h"

#include "common/buf.h"
#include "revocations.h"

#include <stdio.h>
#include <stdlib.h>

/* A frame's payload as a span, again while it is unpacked, and room for short strings. */
enum { JOB_ARENA_BYTES = 2 * LIMIT_FRAME_BYTES + LIMIT_CONTROL_BYTES };

struct job *job_new(enum job_kind kind) {
  struct job *job = calloc(1, sizeof *job);
  if (job == NULL) return NULL;
  job->kind = kind;
  arena_init(&job->arena, JOB_ARENA_BYTES);
  return job;
}

void job_free(struct job *job) {
  if (job == NULL) return;
  revocations_free(job->revocations);
  prefix_forget(&job->prefix);
  arena_fini(&job->arena);
  free(job);
}

struct span job_keep(struct job *job, const struct buf *bytes) {
  char *copy = arena_string(&job->arena, bytes->data, bytes->len);
  return copy != NULL ? span_of(copy, bytes->len) : (struct span){0};
}

size_t job_bytes(const struct job *job) {
  return sizeof *job + job->arena.used_bytes + job->prefix.raw.cap;
}

static void set_outcome(struct job *job, enum job_outcome outcome, enum refusal refusal) {
  job->outcome = outcome;
  job->refusal = refusal;
}

void job_refuse(struct job *job, enum refusal refusal, const char *why) {
  set_outcome(job, JOB_REFUSED, refusal);
  if (why != job->why) snprintf(job->why, sizeof job->why, "%s", why);
}

void job_fail(struct job *job, enum refusal refusal, const char *why) {
  set_outcome(job, JOB_FAILED, refusal);
  if (why != job->why) snprintf(job->why, sizeof job->why, "%s", why);
}
