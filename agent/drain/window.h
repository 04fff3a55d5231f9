/* SPDX-License-Identifier: Apache-2.0 */
/* The open window: samples aggregated by (target's series, thread name) and call tree, in exactly
   the arrays of a batch. */
#ifndef DRAIN_WINDOW_H
#define DRAIN_WINDOW_H

#include "proto/batch.h"
#include "proto/limits.h"
#include "targets/process_entry.h"

struct modules;
struct window;

enum {
  /* Limits of a window, which is closed at three quarters. They are far below those of a batch
     (limits.h), because the window is most of the worker's memory: 16384 nodes and as many samples
     take about 2 MiB with their hashes. */
  WINDOW_NODES_MAX = 16384,
  WINDOW_SAMPLES_MAX = 16384,
  WINDOW_THREADS_MAX = 1024,
  WINDOW_SERIES_MAX = 768, /* the maximum of targets, and as many that have ended */
  WINDOW_MODULES_MAX = 1024,
};

/* The common properties of the samples of one program of one target. */
struct window_series {
  uint32_t target; /* id */
  const char *service, *exe, *labels /* "k=v\nk=v" */, *sampler, *why;
  uint32_t exe_module; /* MODULE_NONE: unknown */
  uint32_t asked_mhz;
};

struct window_sample {
  const struct window_series *series;
  const char *thread;
  const struct code_frame *frames; /* leaf first, at least one */
  uint32_t depth;
  enum sample_type type;
  enum stack_end end;     /* of a SAMPLE_CPU; frames already has it at the root */
  uint64_t count, weight; /* count 0: time from clocks, not a sample */
};

int window_new(struct modules *modules, struct window **ret);
void window_free(struct window *window);

/* Adds SAMPLE. Returns 0, -ENOSPC if the window is full, or -ENOMEM; then nothing of it is
   counted. */
int window_add(struct window *window, const struct window_sample *sample);

/* Adds SERIES to the batch, even without a sample of it. Returns 0, or -errno if there is no room
   for it. */
int window_mention(struct window *window, const struct window_series *series);

/* Takes away the weight, not the records, of the series that have most of it, until no more than
   SPAN_NS * TIMES is left, nor more than LIMIT_BATCH_WEIGHT_NS. Returns how many series that were.
 */
uint32_t window_limit_weight(struct window *window, uint64_t span_ns, uint64_t times);

uint64_t window_records(const struct window *window);
bool window_is_empty(const struct window *window); /* without samples, weight and series */
bool window_is_nearly_full(const struct window *window);
uint64_t window_start_ns(const struct window *window); /* CLOCK_BOOTTIME; of the first sample */

/* Properties of a target that are known only when its window closes. */
struct window_told {
  uint32_t asked_mhz, achieved_mhz, marks; /* asked 0: as initially */
  const char *sampler;                     /* NULL: as in the series, and so is why */
  char why[LIMIT_VALUE_BYTES];             /* truncated */
};
typedef void window_tell(void *context, uint32_t target, struct window_told *ret);

/* TARGET has ended and is about to be removed: stores TOLD in its part of the window. */
void window_tell_target(struct window *window, uint32_t target, const struct window_told *told);

/* Describes the window's contents as RET, with arrays and strings that stay valid until
   window_clear. The caller fills in the times and counters. Returns 0 or -ENOMEM. */
int window_batch(struct window *window, window_tell *tell, void *context, struct batch *ret);

/* Empties the window and frees large arrays. */
void window_clear(struct window *window);

#endif
