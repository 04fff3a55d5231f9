/* SPDX-License-Identifier: Apache-2.0 */
/* A program that gets no ring runs on as if there were no fleetprof, and says nothing: its own
   output is not ours.  So the daemon has to say that there was one, or a board with more programs
   than there is room for looks as if it were all there.

   Reasons are a handful of constant sentences; they are kept as text, so that nobody has to keep a
   list of them in step with who refuses.  Should there be more than rows, the last row counts them
   together.  A worker that dies takes its counts with it, as those of intake.h. */
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
