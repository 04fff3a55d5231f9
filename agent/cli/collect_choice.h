/* SPDX-License-Identifier: Apache-2.0 */
/* The collection mode of `fleetprof run --collect` and its sizes, checked. */
#ifndef CLI_COLLECT_CHOICE_H
#define CLI_COLLECT_CHOICE_H

#include "ring/ring_format.h"

#include <stdbool.h>
#include <stddef.h>

/* As given; NULL if not given. */
struct collect_words {
  const char *collect, *bin_bytes, *counter_bytes, *last;
};

/* 0: the default of the ring's format. */
struct collect_choice {
  enum ring_collect collect;
  uint32_t bin_bytes, counter_bytes; /* histogram */
  uint32_t last;                     /* recorder: values kept of each thread */
};

/* Returns 0, or -EINVAL with one line in ERROR that names the option and its fault. */
int collect_choice_parse(const struct collect_words *words, struct collect_choice *ret, char *error,
                         size_t error_len);

/* True if only the in-process agent supports COLLECT. */
bool collect_needs_agent(enum ring_collect collect);
const char *collect_name(enum ring_collect collect);

#endif
