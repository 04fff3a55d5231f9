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

void diff_gate_add(struct diff_gate *gate, const struct view_diff_row *row, double threshold) {
  double points = 100 * row->difference;
  if (row->verdict == VIEW_UNCLEAR && (row->doubt == VIEW_APART || row->doubt == VIEW_UNLIKE)) {
    gate->a_dark += row->a;
    gate->b_dark += row->b;
  }
  if (!(fabs(points) > threshold)) return;
  if (row->verdict == VIEW_UNCLEAR) count_unclear(gate, row->doubt);
  if (row->verdict != VIEW_CHANGED) return;
  if (gate->changed++ > 0) return; /* the largest comes first */
  gate->name = row->name;
  gate->points = points;
}

void diff_gate_read(const cJSON *answer, double threshold, struct diff_gate *ret) {
  const cJSON *at;
  *ret = (struct diff_gate){.name = ""};
  cJSON_ArrayForEach(at, field_find(answer, "functions")) {
    const struct view_diff_row row = {.name = field_text(at, "name"),
                                      .a = field_number(at, "a"),
                                      .b = field_number(at, "b"),
                                      .difference = field_number(at, "difference"),
                                      .verdict = verdict_word_of(at),
                                      .doubt = verdict_word_doubt(at)};
    diff_gate_add(ret, &row, threshold);
  }
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

static void tell_unclear(const struct diff_gate *gate, const struct diff_gate_voice *voice) {
  if (gate->by_chance > 0)
    complaint("%s: note: %u function%s by more than --fail-over, but it may be chance: more "
              "samples or boards would tell",
              voice->command, gate->by_chance, differ(gate->by_chance));
  if (gate->apart > 0 && !is_dark(gate))
    complaint("%s: note: %u function%s by more than --fail-over and cannot be judged: without a "
              "name it is not known in the other build; symbols would tell (%s)",
              voice->command, gate->apart, differ(gate->apart), voice->how);
  if (gate->unlike > 0 && !is_dark(gate))
    complaint("%s: note: %u function%s by more than --fail-over and cannot be judged: debug "
              "information names one side alone; debug files of both would tell (%s)",
              voice->command, gate->unlike, differ(gate->unlike), voice->how);
  if (gate->by_clocks > 0)
    complaint("%s: note: %u row%s by more than --fail-over that clocks told: several boards on "
              "both sides would tell",
              voice->command, gate->by_clocks, differ(gate->by_clocks));
}

void diff_gate_tell(const struct diff_gate *gate, double threshold,
                    const struct diff_gate_voice *voice) {
  if (gate->changed > 0)
    complaint("%s: %.200s has changed by %+.1f points, more than --fail-over %g%%", voice->command,
              gate->name, gate->points, threshold);
  if (gate->changed > 1) complaint("%s: and %u more have", voice->command, gate->changed - 1);
  if (gate->changed > 0) return;
  if (is_dark(gate))
    complaint("%s: --fail-over: %.0f %% of a and %.0f %% of b cannot be compared, for want of "
              "names or because debug information names one side alone: nothing to judge by; %s "
              "(%s)",
              voice->command, 100 * gate->a_dark, 100 * gate->b_dark, voice->symbols, voice->how);
  tell_unclear(gate, voice);
}
