/* SPDX-License-Identifier: Apache-2.0 */
/* From the loop to the workers and back.  Two lanes: one writes to the store (batches, hellos,
   enrolments), one takes debug files; each has bounds of its own, so that a large file never holds
   up another board's batch. */
#ifndef INGEST_DISPATCH_H
#define INGEST_DISPATCH_H

#include "figures.h"
#include "proto/frame.h"

#include <stdbool.h>

struct debug_intake;
struct dispatch;
struct event_base;
struct job;
struct writer;

struct dispatch_parts { /* borrowed, and outlive the dispatch */
  struct event_base *loop;
  struct figures *figures;
  struct writer *writer;
  struct debug_intake *debug;
  void (*on_job)(void *context, struct job *job); /* on the loop; takes JOB over */
  void (*on_room)(void *context);                 /* on the loop, after some jobs came back */
  void *context;
};

int dispatch_start(const struct dispatch_parts *parts, struct dispatch **ret);

/* Returns whether the lane for frames of TYPE takes one more job, however large; never while
   stopping.  Loop only. */
bool dispatch_has_room(const struct dispatch *dispatch, enum frame_type type);

/* Hands JOB to its lane; it comes back through on_job.  Loop only. */
void dispatch_submit(struct dispatch *dispatch, struct job *job);

/* Lets both lanes finish, in WITHIN_MS at most (what is under way then is still waited for), gives
   every job back through on_job and frees DISPATCH.  Loop only. */
void dispatch_stop(struct dispatch *dispatch, unsigned within_ms);

#endif
