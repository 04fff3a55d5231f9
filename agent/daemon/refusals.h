/* SPDX-License-Identifier: Apache-2.0 */
/* Counts programs that were refused a ring, by reason. */
#ifndef DAEMON_REFUSALS_H
#define DAEMON_REFUSALS_H

#include <stdint.h>

struct buf;

enum {
  REFUSAL_REASONS_MAX = 12, /* the registrar has as many; the last row is for all others */
  REFUSAL_WHY_BYTES = 128,
};

/* All-zero is empty. */
struct refusals {
  struct refusal {
    char why[REFUSAL_WHY_BYTES];
    uint64_t count;
  } rows[REFUSAL_REASONS_MAX];
};

/* Counts a program that was rejected because of WHY. */
void refusals_note(struct refusals *refusals, const char *why);

/* Appends "refused_programs": {reason: n}. */
void refusals_print(const struct refusals *refusals, struct buf *out);

#endif
