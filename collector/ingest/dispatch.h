/* SPDX-License-Identifier: Apache-2.0 */
/* Passes jobs from the loop to the workers and back. There are two lanes: one writes to the store
   (batches, hellos, enrolments), one takes debug files. Each has its own bounds, so that a large
   file never delays another board's batch. */
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

struct dispatch_parts { /* all borrowed; must outlive the dispatch */
  struct event_base *loop;
  struct figures *figures;
  struct writer *writer;
  struct debug_intake *debug;
  void (*on_job)(void *context, struct job *job); /* on the loop; takes JOB over */
  void (*on_room)(void *context);                 /* on the loop, after jobs were returned */
  void *context;
};

int dispatch_start(const struct dispatch_parts *parts, struct dispatch **ret);

/* Returns whether the lane for frames of TYPE has room for another job of any size; false while
   stopping. Loop only. */
bool dispatch_has_room(const struct dispatch *dispatch, enum frame_type type);

/* Passes JOB to its lane. on_job returns it. Loop only. */
void dispatch_submit(struct dispatch *dispatch, struct job *job);

/* Lets both lanes finish within WITHIN_MS (a running job is awaited even longer), returns every job
   through on_job and frees DISPATCH. Loop only. */
void dispatch_stop(struct dispatch *dispatch, unsigned within_ms);

#endif
