/* SPDX-License-Identifier: Apache-2.0 */
/* Who sampled what a report shows: more than one where files are added up, or where one sampler
   took over from another. */
#ifndef REPORT_SAMPLER_LIST_H
#define REPORT_SAMPLER_LIST_H

#include <stdbool.h>
#include <stdint.h>

struct batch_target;
struct buf;

enum { SAMPLER_LIST_MAX = 8, SAMPLER_NAME_BYTES = 24 };

struct sampler_row {
  char name[SAMPLER_NAME_BYTES];
  uint32_t asked_mhz;
  bool has_rates; /* several were asked for */
  uint64_t samples;
};

/* All-zero is an empty one. */
struct sampler_list {
  struct sampler_row rows[SAMPLER_LIST_MAX];
  uint32_t count;
};

/* TARGET's sampler took SAMPLES more.  Beyond SAMPLER_LIST_MAX names nothing is noted. */
void sampler_list_note(struct sampler_list *list, const struct batch_target *target,
                       uint64_t samples);

/* Appends their names, "perf", "timer and perf": of those that took a sample, or where nobody did,
   of all that were to; "no sampler" where there are none. */
void sampler_list_print(const struct sampler_list *list, struct buf *ret);

/* The one that print names, if it names one that had one rate; else NULL. */
const struct sampler_row *sampler_list_only(const struct sampler_list *list);

/* Whether the sampler NAME is in LIST, with samples or without. */
bool sampler_list_has(const struct sampler_list *list, const char *name);

#endif
