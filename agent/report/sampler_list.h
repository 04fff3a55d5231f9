/* SPDX-License-Identifier: Apache-2.0 */
/* The samplers of a report.  There are several if files are summed up, or if another sampler took
   over. */
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
  bool has_rates; /* several rates were requested */
  uint64_t samples;
};

/* All-zero is empty. */
struct sampler_list {
  struct sampler_row rows[SAMPLER_LIST_MAX];
  uint32_t count;
};

/* Adds SAMPLES to TARGET's sampler.  Beyond SAMPLER_LIST_MAX names the call is ignored. */
void sampler_list_note(struct sampler_list *list, const struct batch_target *target,
                       uint64_t samples);

/* Appends the names of samplers that produced samples ("perf", "timer and perf").  If none did,
   appends all that were requested; "no sampler" if there are none. */
void sampler_list_print(const struct sampler_list *list, struct buf *ret);

/* The sampler that sampler_list_print names, if it is only one and had one rate; else NULL. */
const struct sampler_row *sampler_list_only(const struct sampler_list *list);

/* Whether the sampler NAME is in LIST, with or without samples. */
bool sampler_list_has(const struct sampler_list *list, const char *name);

#endif
