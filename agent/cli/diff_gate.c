/* SPDX-License-Identifier: Apache-2.0 */
/* A gate asks two things of a function: that its difference is no chance (the collector's verdict,
   for all functions together), and that it is more than the threshold, in either direction: shares
   are of one whole, so what falls somewhere rises elsewhere.

   What is unclear does not stop a release, since with few samples everything is; but what would
   make it clear is told, and that differs.  More samples tell what may be chance.  No number of
   them tells what a function without a name is called in the next build, nor what is inlined where
   only a symbol table names it: debug files do.  A gate that
   passes on nothing is none, so where most of a side cannot be judged at all it does not pass. */
#include "diff_gate.h"

#include "complaint.h"
#include "field.h"
#include "verdict_word.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>

enum { EXIT_FAILED = 1, EXIT_CHANGED = 3 };

static const double dark_max = 0.5; /* of a side, in a release that is judged */

static void count_unclear(struct diff_gate *gate, enum view_doubt doubt) {
  switch (doubt) {
  case VIEW_APART:
    gate->apart++;
    break;
  case VIEW_UNLIKE:
    gate->unlike++;
    break;
  case VIEW_CLOCKS:
    gate->by_clocks++;
    break;
  case VIEW_NO_DOUBT:
  case VIEW_MANY:
    gate->by_chance++;
    break;
  }
}

static void read_row(const cJSON *row, double threshold, struct diff_gate *gate) {
  double points = 100 * field_number(row, "difference");
  enum view_verdict verdict = verdict_word_of(row);
  enum view_doubt doubt = verdict_word_doubt(row);
  if (verdict == VIEW_UNCLEAR && (doubt == VIEW_APART || doubt == VIEW_UNLIKE)) {
    gate->a_dark += field_number(row, "a");
    gate->b_dark += field_number(row, "b");
  }
  if (!(fabs(points) > threshold)) return;
  if (verdict == VIEW_UNCLEAR) count_unclear(gate, doubt);
  if (verdict != VIEW_CHANGED) return;
  if (gate->changed++ > 0) return; /* the largest comes first */
  gate->name = field_text(row, "name");
  gate->points = points;
}

void diff_gate_read(const cJSON *answer, double threshold, struct diff_gate *ret) {
  const cJSON *row;
  *ret = (struct diff_gate){.name = ""};
  cJSON_ArrayForEach(row, field_find(answer, "functions")) read_row(row, threshold, ret);
}

static bool is_dark(const struct diff_gate *gate) {
  return gate->a_dark > dark_max || gate->b_dark > dark_max;
}

int diff_gate_status(const struct diff_gate *gate) {
  if (gate->changed > 0) return EXIT_CHANGED;
  return is_dark(gate) ? EXIT_FAILED : 0;
}

static const char *differ(unsigned count) {
  return count == 1 ? " differs" : "s differ";
}

static void tell_unclear(const struct diff_gate *gate) {
  if (gate->by_chance > 0)
    complaint("diff: note: %u function%s by more than --fail-over, but it may be chance: more "
              "samples or boards would tell",
              gate->by_chance, differ(gate->by_chance));
  if (gate->apart > 0 && !is_dark(gate))
    complaint("diff: note: %u function%s by more than --fail-over and cannot be judged: without a "
              "name it is not known in the other build; symbols would tell (fleetprof upload)",
              gate->apart, differ(gate->apart));
  if (gate->unlike > 0 && !is_dark(gate))
    complaint("diff: note: %u function%s by more than --fail-over and cannot be judged: debug "
              "information names one side alone; debug files of both would tell (fleetprof upload)",
              gate->unlike, differ(gate->unlike));
  if (gate->by_clocks > 0)
    complaint("diff: note: %u row%s by more than --fail-over that clocks told: several boards on "
              "both sides would tell",
              gate->by_clocks, differ(gate->by_clocks));
}

void diff_gate_tell(const struct diff_gate *gate, double threshold) {
  if (gate->changed > 0)
    complaint("diff: %.200s has changed by %+.1f points, more than --fail-over %g%%", gate->name,
              gate->points, threshold);
  if (gate->changed > 1) complaint("diff: and %u more have", gate->changed - 1);
  if (gate->changed > 0) return;
  if (is_dark(gate))
    complaint(
        "diff: --fail-over: %.0f %% of a and %.0f %% of b cannot be compared, for want of names or "
        "because debug information names one side alone: nothing to judge by; upload symbols "
        "(fleetprof upload)",
        100 * gate->a_dark, 100 * gate->b_dark);
  tell_unclear(gate);
}
