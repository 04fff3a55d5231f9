/* SPDX-License-Identifier: Apache-2.0 */
/* A failure needs two conditions, for the whole and for each function: the difference is
   significant (the verdict), and it is an increase beyond the threshold.

   Three kinds of increases are noted and do not fail:
    - Dilution: a share also rises when other functions use less.  The function's CPU time per
      run or board-hour has not changed beyond the threshold in that direction.  If its interval
      reaches beyond the threshold, the change is unclear.
    - Moved time: the time was another function's before (view/diff_moves.c).  A function was
      renamed, split or inlined, or is called from elsewhere.  The rest of the increase is within
      the threshold.
    - An unclear verdict.  With few samples all verdicts are unclear; the note has the remedy.

   When a function has grown, its callers have, too.  The failure is the function that explains
   them; its callers are listed after it.

   If most of a side cannot be compared by name, the gate does not pass, because there is no
   evidence.  A gate that passes reports the increase that it would have found. */
#include "diff_gate.h"

#include "common/buf.h"
#include "common/json.h"
#include "complaint.h"
#include "report/diff_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_CHANGED = 3, CALLERS_NAMED_MAX = 4 };

static const double dark_max = 0.5;  /* of a side may lack names; more: undecided */
static const double moved_min = 0.5; /* share of an increase that must have moved */

static bool is_beyond(const struct diff_gate *gate, double change) {
  double percent = 100 * change;
  return percent > gate->threshold || (gate->is_both && percent < -gate->threshold);
}

/* Whether a share has changed, but the function's CPU time has not by as much in that direction.
   Never true of a new function. */
static bool is_dilution(const struct diff_gate *gate, const struct view_diff_row *row,
                        const struct view_change *change) {
  const struct view_change *cpu = &row->cpu;
  bool is_whole = change->verdict == VIEW_NEW || change->verdict == VIEW_GONE;
  if (gate->diff->options.measure != VIEW_SHARES || is_whole || !isfinite(cpu->difference))
    return false;
  return cpu->verdict == VIEW_SAME || !(cpu->difference * change->difference > 0) ||
         !is_beyond(gate, cpu->difference);
}

/* The share of ROW has changed by CHANGE.  Returns whether the interval of its CPU time admits a
   change in that direction that is within the threshold. */
static bool is_cpu_within(const struct diff_gate *gate, const struct view_diff_row *row,
                          const struct view_change *change) {
  double end = change->difference > 0 ? row->cpu.high : -row->cpu.low;
  return row->cpu.verdict == VIEW_SAME || 100 * end <= gate->threshold;
}

/* The part of the change of ROW that has not moved. */
static double rest_of(const struct diff_gate *gate, const struct view_diff_row *row) {
  return fabs(view_diff_change(&gate->diff->options, row)->difference) - row->moved.amount;
}

/* Whether the rest of CHANGE, without the moved time, is within the threshold or the sampling
   error. */
static bool is_moved(const struct diff_gate *gate, const struct view_diff_row *row,
                     const struct view_change *change) {
  if (!(row->moved.amount >= moved_min * fabs(change->difference))) return false;
  return rest_of(gate, row) <= fmax(gate->threshold / 100, row->moved.error);
}

static void list_add(struct diff_gate_list *list, const struct view_diff_row *row) {
  if (list->count < DIFF_GATE_NAMED_MAX) list->rows[list->count] = row;
  list->count++;
}

static void look_how_sharp(struct diff_gate *gate, const struct view_diff_row *row,
                           const struct view_change *change) {
  if (view_verdict_is_change(change->verdict)) return;
  if (!isfinite(change->detectable)) {
    gate->blind++;
    return;
  }
  const struct view_diff_row *hardest = gate->hardest;
  if (hardest == NULL ||
      view_diff_change(&gate->diff->options, hardest)->detectable < change->detectable)
    gate->hardest = row;
}

static void add_row(struct diff_gate *gate, const struct view_diff_row *row) {
  const struct view_change *change = view_diff_change(&gate->diff->options, row);
  look_how_sharp(gate, row, change);
  if (change->verdict == VIEW_UNCLEAR &&
      (change->doubt == VIEW_APART || change->doubt == VIEW_UNLIKE)) {
    gate->a_dark += row->self.a;
    gate->b_dark += row->self.b;
  }
  if (!is_beyond(gate, change->difference)) return;
  if (change->verdict == VIEW_UNCLEAR) list_add(&gate->unclear[change->doubt], row);
  if (!view_verdict_is_change(change->verdict)) return;
  if (is_dilution(gate, row, change)) {
    list_add(is_cpu_within(gate, row, change) ? &gate->diluted : &gate->cpu_unclear, row);
  } else if (is_moved(gate, row, change)) {
    list_add(&gate->moved, row);
  } else {
    if (gate->changed < DIFF_GATE_ROWS_MAX) gate->failed[gate->changed] = row;
    gate->changed++;
  }
}

static unsigned failed_count(const struct diff_gate *gate) {
  return gate->changed < DIFF_GATE_ROWS_MAX ? gate->changed : DIFF_GATE_ROWS_MAX;
}

static bool is_row_of(const struct view_diff_row *row, const struct view_other *of) {
  bool has_file = row->file != NULL && of->file != NULL;
  return strcmp(row->name, of->name) == 0 && strcmp(row->module, of->module) == 0 &&
         (has_file ? strcmp(row->file, of->file) == 0 : row->file == of->file);
}

/* The index of the failure that explains failure AT, or AT. */
static unsigned next_through(const struct diff_gate *gate, unsigned at) {
  const struct view_other *through = &gate->failed[at]->through;
  for (unsigned i = 0; through->name != NULL && i < failed_count(gate); i++)
    if (is_row_of(gate->failed[i], through)) return i;
  return at;
}

/* Functions that call each other explain each other in a cycle.  One of them stays a failure. */
static void find_through(struct diff_gate *gate) {
  unsigned count = failed_count(gate);
  for (unsigned i = 0; i < count; i++) {
    unsigned at = i;
    for (unsigned steps = 0; steps < count && next_through(gate, at) != at; steps++)
      at = next_through(gate, at);
    gate->through[i] = at;
  }
  for (unsigned i = 0; i < count; i++) gate->through[gate->through[i]] = gate->through[i];
}

static bool is_stopped(const struct diff_gate *gate) {
  return gate->is_whole_changed || gate->changed > 0;
}

static bool is_dark(const struct diff_gate *gate) {
  return gate->a_dark > dark_max || gate->b_dark > dark_max;
}

void diff_gate_read(const struct view_diff *diff, double threshold, bool is_both,
                    const char *undecided, struct diff_gate *ret) {
  const struct view_whole *whole = &diff->whole;
  struct diff_gate gate = {
      .diff = diff, .threshold = threshold, .is_both = is_both, .undecided = undecided};
  if (is_beyond(&gate, whole->ratio - 1)) {
    gate.is_whole_changed = view_verdict_is_change(whole->verdict);
    gate.is_whole_unclear = whole->verdict == VIEW_UNCLEAR;
  }
  for (uint32_t i = 0; i < diff->count; i++) add_row(&gate, &diff->rows[i]);
  find_through(&gate);
  if (undecided == NULL && !is_stopped(&gate) && is_dark(&gate)) gate.undecided = "names";
  *ret = gate;
}

int diff_gate_status(const struct diff_gate *gate) {
  if (gate->undecided != NULL) return EXIT_FAILED;
  return is_stopped(gate) ? EXIT_CHANGED : 0;
}

/* ---- notes ---- */

/* The remedy for DOUBT; that for APART and UNLIKE is in VOICE. */
static const char *remedy_of(enum view_doubt doubt) {
  switch (doubt) {
  case VIEW_CLOCKS:
    return "clocks measured that, without samples: compare several boards on both sides";
  case VIEW_SHORT:
    return "there are too few independent stretches of time: let it run longer";
  case VIEW_HIDDEN:
    return "time that was not sampled may be it: a report of each side says what helps";
  case VIEW_RUNS:
    return "runs of one program may differ by that: more runs of both sides narrow it";
  case VIEW_APART:
    return "without a name it is not known in the other build: give symbols";
  case VIEW_UNLIKE:
    return "debug information names one side alone: give debug files of both";
  default:
    return "it may be chance: take more samples or boards";
  }
}

/* Appends the names of LIST, each with its difference. */
static void print_names(const struct diff_gate *gate, const struct diff_gate_list *list,
                        struct buf *ret) {
  for (unsigned i = 0; i < list->count && i < DIFF_GATE_NAMED_MAX; i++) {
    const struct view_change *change = view_diff_change(&gate->diff->options, list->rows[i]);
    buf_printf(ret, "%s%.200s (%+.1f points)", i > 0 ? ", " : "", list->rows[i]->name,
               100 * change->difference);
  }
  if (list->count > DIFF_GATE_NAMED_MAX)
    buf_printf(ret, " and %u more", list->count - DIFF_GATE_NAMED_MAX);
}

static void report_doubt(const struct diff_gate *gate, const struct diff_gate_voice *voice,
                         enum view_doubt doubt) {
  const struct diff_gate_list *list = &gate->unclear[doubt];
  bool is_of_names = doubt == VIEW_APART || doubt == VIEW_UNLIKE;
  struct buf names = {0};
  if (list->count == 0) return;
  print_names(gate, list, &names);
  complaint("%s: note: unclear, beyond --fail-over: %s: %s%s%s%s", voice->command, buf_text(&names),
            remedy_of(doubt), is_of_names ? " (" : "", is_of_names ? voice->how : "",
            is_of_names ? ")" : "");
  buf_fini(&names);
}

static void report_moved(const struct diff_gate *gate, const struct diff_gate_voice *voice,
                         const struct view_diff_row *row) {
  const struct view_change *change = view_diff_change(&gate->diff->options, row);
  const char *of = row->moved.of.name != NULL ? row->moved.of.name : "others";
  bool is_clear = 100 * rest_of(gate, row) <= gate->threshold;
  bool is_less = change->difference < 0;
  char text[512];
  switch (row->moved.how) {
  case VIEW_RENAMED:
    snprintf(text, sizeof text,
             is_less ? "%.200s stands in its place" : "it stands in place of %.200s, which is gone",
             of);
    break;
  case VIEW_SPLIT:
    snprintf(text, sizeof text,
             is_less ? "%.200s does that itself now" : "%.200s did that itself before", of);
    break;
  case VIEW_INLINED:
    snprintf(text, sizeof text,
             is_less ? "%.200s does that now" : "%.200s, which is gone, did that before", of);
    break;
  default:
    snprintf(text, sizeof text, "what it calls was called by %s %s", of,
             is_less ? "less before" : "before");
  }
  complaint("%s: note: %.200s (%+.1f points): %s: %.1f of %.1f points moved, which is no growth%s: "
            "passed",
            voice->command, row->name, 100 * change->difference, text,
            100 * fmin(row->moved.amount, fabs(change->difference)), 100 * fabs(change->difference),
            is_clear ? "" : "; the rest is unclear");
}

/* Names functions with a changed share.  Their CPU time may have changed, too. */
static void report_cpu_unclear(const struct diff_gate *gate, const struct diff_gate_voice *voice) {
  const struct diff_gate_list *list = &gate->cpu_unclear;
  const char *unit = gate->diff->options.units.name;
  for (unsigned i = 0; i < list->count && i < DIFF_GATE_NAMED_MAX; i++) {
    const struct view_change *cpu = &list->rows[i]->cpu;
    char least[32] = "none";
    if (isfinite(cpu->detectable))
      snprintf(least, sizeof least, "%.1f points", 100 * cpu->detectable);
    complaint("%s: note: %.200s: the share has changed by %+.1f points; CPU per %s by %+.1f, which "
              "is unclear (detectable: %s): passed",
              voice->command, list->rows[i]->name,
              100 * view_diff_change(&gate->diff->options, list->rows[i])->difference, unit,
              100 * cpu->difference, least);
  }
  if (list->count > DIFF_GATE_NAMED_MAX)
    complaint(
        "%s: note: CPU per %s is unclear of %u more functions whose share has changed: passed",
        voice->command, unit, list->count - DIFF_GATE_NAMED_MAX);
}

static void report_notes(const struct diff_gate *gate, const struct diff_gate_voice *voice) {
  const struct view_whole *whole = &gate->diff->whole;
  const char *unit = gate->diff->options.units.name;
  if (gate->is_whole_unclear)
    complaint("%s: note: all CPU per %s differs by %+.1f %%, unclear: %s", voice->command, unit,
              100 * (whole->ratio - 1), remedy_of(whole->doubt));
  for (int doubt = VIEW_NO_DOUBT; doubt <= VIEW_RUNS; doubt++)
    report_doubt(gate, voice, (enum view_doubt)doubt);
  for (unsigned i = 0; i < gate->moved.count && i < DIFF_GATE_NAMED_MAX; i++)
    report_moved(gate, voice, gate->moved.rows[i]);
  if (gate->moved.count > DIFF_GATE_NAMED_MAX)
    complaint("%s: note: the time of %u more functions has moved: passed", voice->command,
              gate->moved.count - DIFF_GATE_NAMED_MAX);
  report_cpu_unclear(gate, voice);
  if (gate->diluted.count == 0) return;
  struct buf names = {0};
  print_names(gate, &gate->diluted, &names);
  complaint("%s: note: %s: the share alone has changed, for what others take; CPU per %s has not: "
            "passed",
            voice->command, buf_text(&names), unit);
  buf_fini(&names);
}

/* ---- failures ---- */

/* Whether ONE precedes OTHER in the list of ROW's callers: first those of its module, then the
   nearest. */
static bool is_nearer(const struct view_diff_row *row, const struct view_diff_row *one,
                      const struct view_diff_row *other) {
  bool is_one = strcmp(one->module, row->module) == 0;
  bool is_other = strcmp(other->module, row->module) == 0;
  return is_one != is_other ? is_one : one->total.b < other->total.b;
}

/* Appends the callers that failure AT explains. */
static void print_callers(const struct diff_gate *gate, unsigned at, struct buf *ret) {
  const struct view_diff_row *callers[DIFF_GATE_ROWS_MAX];
  unsigned count = 0;
  for (unsigned i = 0; i < failed_count(gate); i++) {
    if (i == at || gate->through[i] != at) continue;
    unsigned to = count++;
    for (; to > 0 && is_nearer(gate->failed[at], gate->failed[i], callers[to - 1]); to--)
      callers[to] = callers[to - 1];
    callers[to] = gate->failed[i];
  }
  for (unsigned i = 0; i < count && i < CALLERS_NAMED_MAX; i++)
    buf_printf(ret, "%s%.200s", i == 0 ? "; and so its callers: " : ", ", callers[i]->name);
  if (count > CALLERS_NAMED_MAX) buf_printf(ret, " and %u more", count - CALLERS_NAMED_MAX);
}

/* Reports failure AT: the change of a function, in MEASURE. */
static void report_change(const struct diff_gate *gate, const struct diff_gate_voice *voice,
                          unsigned at, const char *measure) {
  const struct view_diff_row *row = gate->failed[at];
  const struct view_change *change = view_diff_change(&gate->diff->options, row);
  bool is_new = change->verdict == VIEW_NEW, is_gone = change->verdict == VIEW_GONE;
  struct buf callers = {0};
  print_callers(gate, at, &callers);
  complaint("%s: %.200s %s by %+.1f points (%s), more than --fail-over %g%%%s", voice->command,
            row->name,
            is_new    ? "is new and has changed"
            : is_gone ? "is gone and has changed"
                      : "has changed",
            100 * change->difference, measure, gate->threshold,
            callers.len > 0 ? buf_text(&callers) : "");
  buf_fini(&callers);
}

static void report_changes(const struct diff_gate *gate, const struct diff_gate_voice *voice) {
  const struct view_diff *diff = gate->diff;
  struct buf measure = {0};
  unsigned named = 0, left = gate->changed - failed_count(gate);
  if (gate->is_whole_changed)
    complaint("%s: all CPU per %s has changed by %+.1f %%, more than --fail-over %g%%",
              voice->command, diff->options.units.name, 100 * (diff->whole.ratio - 1),
              gate->threshold);
  diff_text_print_measure(diff, &measure);
  for (unsigned i = 0; i < failed_count(gate); i++) {
    if (gate->through[i] != i) continue;
    if (named < DIFF_GATE_NAMED_MAX)
      report_change(gate, voice, i, buf_text(&measure));
    else
      left++;
    named++;
  }
  buf_fini(&measure);
  if (left > 0)
    complaint("%s: and %u more function%s", voice->command, left, left == 1 ? " has" : "s have");
}

void diff_gate_report(const struct diff_gate *gate, const struct diff_gate_voice *voice) {
  if (gate->undecided != NULL && strcmp(gate->undecided, "names") == 0)
    complaint("%s: --fail-over: %.0f %% of a and %.0f %% of b cannot be compared, for want of "
              "names or because debug information names one side alone: nothing to judge by; %s "
              "(%s)",
              voice->command, 100 * gate->a_dark, 100 * gate->b_dark, voice->symbols, voice->how);
  if (gate->undecided != NULL) return;
  report_changes(gate, voice);
  if (!is_stopped(gate)) report_notes(gate, voice);
}

/* ---- the result ---- */

/* The smallest increase that the gate finds.  DETECTABLE: the smallest that gets the verdict
   "changed". */
static double least_found(const struct diff_gate *gate, double detectable) {
  return fmax(detectable, gate->threshold / 100);
}

void diff_gate_print(const struct diff_gate *gate, struct buf *ret) {
  const struct view_diff *diff = gate->diff;
  const char *unit = diff->options.units.name;
  buf_printf(ret, "gate: %s, --fail-over %g%%",
             gate->undecided != NULL ? "undecided"
             : is_stopped(gate)      ? "failed"
                                     : "passed",
             gate->threshold);
  if (gate->undecided != NULL || is_stopped(gate)) {
    buf_append_byte(ret, '\n');
    return;
  }
  if (isfinite(diff->whole.detectable))
    buf_printf(ret, "; an increase of all CPU per %s by %.1f %% would have been found", unit,
               100 * least_found(gate, diff->whole.detectable));
  else
    buf_printf(ret, "; no increase of all CPU per %s would have been found", unit);
  if (gate->hardest != NULL)
    buf_printf(ret, ", of a function by %.1f points (%.200s) or less",
               100 * least_found(gate, view_diff_change(&diff->options, gate->hardest)->detectable),
               gate->hardest->name);
  else
    buf_append_string(ret, ", of a function none");
  if (gate->hardest != NULL && gate->blind > 0) buf_printf(ret, ", of %u others none", gate->blind);
  buf_append_string(ret, " (4 times of 5)\n");
}

static void write_number(struct json *json, const char *key, double value) {
  json_key(json, key);
  json_double(json, value);
}

static void write_bool(struct json *json, const char *key, bool value) {
  json_key(json, key);
  json_bool(json, value);
}

static void write_failure(struct json *json, const struct diff_gate *gate, unsigned at) {
  const struct view_diff_row *row = gate->failed[at];
  const struct view_change *change = view_diff_change(&gate->diff->options, row);
  json_open(json, '{');
  json_key_string(json, "name", row->name);
  json_key_string(json, "module", row->module);
  json_key_string(json, "verdict", view_verdict_name(change->verdict));
  write_number(json, "change", change->difference);
  json_key(json, "callers");
  json_open(json, '[');
  for (unsigned i = 0; i < failed_count(gate); i++)
    if (i != at && gate->through[i] == at) json_string(json, gate->failed[i]->name);
  json_close(json, ']');
  json_close(json, '}');
}

static void write_list(struct json *json, const struct diff_gate *gate, const char *key,
                       const struct diff_gate_list *list) {
  json_key(json, key);
  json_open(json, '{');
  json_key_uint(json, "count", list->count);
  json_key(json, "functions");
  json_open(json, '[');
  for (unsigned i = 0; i < list->count && i < DIFF_GATE_NAMED_MAX; i++) {
    json_open(json, '{');
    json_key_string(json, "name", list->rows[i]->name);
    write_number(json, "change", view_diff_change(&gate->diff->options, list->rows[i])->difference);
    json_close(json, '}');
  }
  json_close(json, ']');
  json_close(json, '}');
}

static void write_unclear(struct json *json, const struct diff_gate *gate) {
  json_key(json, "unclear");
  json_open(json, '{');
  for (int doubt = VIEW_NO_DOUBT; doubt <= VIEW_RUNS; doubt++)
    if (gate->unclear[doubt].count > 0)
      write_list(json, gate, doubt == VIEW_NO_DOUBT ? "chance" : view_doubt_name(doubt),
                 &gate->unclear[doubt]);
  json_close(json, '}');
}

static void write_gate(struct json *json, const struct diff_gate *gate) {
  const struct view_diff *diff = gate->diff;
  double hardest = NAN;
  if (gate->hardest != NULL)
    hardest = least_found(gate, view_diff_change(&diff->options, gate->hardest)->detectable);
  write_number(json, "limit", gate->threshold / 100);
  write_bool(json, "both", gate->is_both);
  write_bool(json, "passed", diff_gate_status(gate) == 0);
  json_key_string(json, "undecided", gate->undecided);
  write_bool(json, "whole_failed", gate->is_whole_changed && gate->undecided == NULL);
  write_number(json, "whole_change", diff->whole.ratio - 1);
  json_key_uint(json, "failed", gate->undecided == NULL ? gate->changed : 0);
  json_key(json, "failures");
  json_open(json, '[');
  for (unsigned i = 0; gate->undecided == NULL && i < failed_count(gate); i++)
    if (gate->through[i] == i) write_failure(json, gate, i);
  json_close(json, ']');
  write_list(json, gate, "moved", &gate->moved);
  write_list(json, gate, "diluted", &gate->diluted);
  write_list(json, gate, "cpu_unclear", &gate->cpu_unclear);
  write_unclear(json, gate);
  json_key(json, "detectable");
  json_open(json, '{');
  write_number(json, "whole", least_found(gate, diff->whole.detectable));
  write_number(json, "function", hardest);
  json_key_string(json, "hardest", gate->hardest != NULL ? gate->hardest->name : NULL);
  json_key_uint(json, "blind", gate->blind);
  json_close(json, '}');
}

void diff_gate_write(const struct diff_gate *gate, struct json *json) {
  json_key(json, "gate");
  json_open(json, '{');
  write_gate(json, gate);
  json_close(json, '}');
}
