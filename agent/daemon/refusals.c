/* SPDX-License-Identifier: Apache-2.0 */
/* A program without a ring runs unsampled and reports nothing, as its output is not the profiler's.
   So the daemon reports it; otherwise a board with too many programs would look complete.

   Reasons are a few constant sentences.  They are kept as text, so there is no list to maintain.
   If there are more reasons than rows, the last row counts the rest.  The counts are lost with the
   worker, as those of intake.h are. */
#include "refusals.h"
#include "status_json.h"

#include <stdio.h>
#include <string.h>

static struct refusal *find(struct refusals *refusals, const char *why) {
  for (unsigned i = 0; i + 1 < REFUSAL_REASONS_MAX; i++) {
    struct refusal *row = &refusals->rows[i];
    if (row->count == 0) snprintf(row->why, sizeof row->why, "%s", why);
    if (strncmp(row->why, why, sizeof row->why - 1) == 0) return row;
  }
  struct refusal *others = &refusals->rows[REFUSAL_REASONS_MAX - 1];
  snprintf(others->why, sizeof others->why, "other reasons");
  return others;
}

void refusals_note(struct refusals *refusals, const char *why) {
  find(refusals, why)->count++;
}

void refusals_print(const struct refusals *refusals, struct buf *out) {
  json_open(out, "refused_programs");
  for (unsigned i = 0; i < REFUSAL_REASONS_MAX; i++) {
    const struct refusal *row = &refusals->rows[i];
    if (row->count == 0) continue;
    json_number(out, row->why, row->count);
  }
  buf_append_byte(out, '}');
}
