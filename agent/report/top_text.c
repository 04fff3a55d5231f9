/* SPDX-License-Identifier: Apache-2.0 */
/* One line about the measurement, then a function per line, heaviest first, each share with its
   interval: without intervals noise looks like a difference.  Functions that were never sampled
   themselves come last (self is 0, only the total counts).  The rows beyond the limit are summed up
   in one line.  Colour marks more than a tenth of all. */
#include "top_text.h"
#include "name_fit.h"

#include "common/buf.h"
#include "common/clock.h"
#include "common/quantity.h"
#include "view/marks.h"
#include "view/pseudo_hints.h"
#include "view/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define PLAIN "\033[0m"

enum {
  SHARE_COLUMNS = 27,  /* a share and its interval */
  SHARES_COLUMNS = 36, /* the total, too */
  FEW_UNITS = 10,
};

static const double worth_a_look = 0.1;
static const double worth_an_end = 0.005;
static const double worth_a_word = 0.8; /* of the samples: varied periods alone cost less */

static const char not_sampled[] = "not sampled: "; /* the prefix of census_explain's text */

static bool do_weights_differ(const struct view_tree *tree) {
  return evidence_trials(&tree->evidence) < worth_a_word * (double)tree->total_count;
}

void top_text_print_total(const struct view_tree *tree, struct buf *ret) {
  buf_printf(ret, "%llu sample%s, %.2f s of CPU time", (unsigned long long)tree->total_count,
             tree->total_count == 1 ? "" : "s", (double)tree->total_weight / (double)NS_PER_SECOND);
  if (do_weights_differ(tree))
    buf_printf(ret, " (weights differ: worth %.0f samples)", evidence_trials(&tree->evidence));
}

/* No sampler is twice as fast as requested.  If it seems so, the request is only the last one
   (ctl), and the average is none of the rates.  A smaller difference means nothing: by timer, the
   kernel's tick causes it. */
static bool has_rates(const struct sampler_row *only, uint32_t achieved_mhz) {
  return achieved_mhz / 2 > only->asked_mhz;
}

static void print_rate(const struct profile *profile, struct buf *ret) {
  const struct sampler_row *only = sampler_list_only(&profile->samplers);
  uint32_t achieved = profile_achieved_mhz(profile);
  char asked[QUANTITY_TEXT_BYTES], got[QUANTITY_TEXT_BYTES];
  if (profile->is_recorder) buf_append_string(ret, ", the last ones of each thread");
  if (only == NULL) return;
  quantity_print(only->asked_mhz / 1000.0, asked);
  if (has_rates(only, achieved))
    buf_append_string(ret, " at several rates");
  else if (achieved > 0 && !profile->is_recorder)
    buf_printf(ret, " at %s Hz (asked: %s)", quantity_print(achieved / 1000.0, got), asked);
  else
    buf_printf(ret, ", asked for %s Hz", asked);
}

static void print_sums(const struct profile *profile, const struct view_tree *tree,
                       struct buf *ret) {
  top_text_print_total(tree, ret);
  if (profile->samplers.count > 0) {
    buf_append_string(ret, ", by ");
    sampler_list_print(&profile->samplers, ret);
    print_rate(profile, ret);
  }
  buf_append_byte(ret, '\n');
}

static void print_loss(const struct view_tree *tree, struct buf *ret) {
  for (unsigned i = 0; i < LOSS_REASON_COUNT; i++)
    if (tree->loss[i] > 0)
      buf_printf(ret, "%llu samples lost: %s\n", (unsigned long long)tree->loss[i], loss_name(i));
  for (uint32_t i = 0; i < tree->mark_count; i++) {
    struct mark_text text = marks_text(tree->marks[i].marks);
    buf_printf(ret, "%s %s: %s\n", text.mark, text.certainty, text.meaning);
  }
}

/* Prints the unsampled part, as explained by the last window. */
static void print_unsampled(const struct profile *profile, struct buf *ret) {
  if (strstr(profile->why, not_sampled) != NULL) buf_printf(ret, "%s\n", profile->why);
}

static void print_end_name(enum stack_end end, struct buf *ret) {
  for (const char *c = stack_end_name(end); *c != '\0'; c++)
    buf_append_byte(ret, *c == '_' ? ' ' : (uint8_t)*c);
}

/* Explains each stack end with enough weight.  The place where a truncated stack ends means
   nothing. */
static void print_why_short(const struct view_tree *tree, const struct stacks_row *rows,
                            uint32_t count, struct buf *ret) {
  double total = (double)stacks_total(tree);
  for (unsigned end = 0; end < STACK_END_COUNT; end++) {
    if (end == STACK_COMPLETE || (double)tree->stacks_weight[end] < worth_an_end * total) continue;
    buf_append_string(ret, "  ");
    print_end_name(end, ret);
    buf_printf(ret, ": %s\n", stacks_meaning(end));
  }
  for (uint32_t i = 0; i < count; i++) {
    double share = (double)rows[i].weight / total;
    if (share >= worth_an_end && rows[i].end != STACK_TRUNCATED)
      buf_printf(ret, "  %.1f %% end in %s, which %s\n", 100 * share, rows[i].module,
                 stacks_why(&rows[i]));
  }
}

/* Prints how the stacks ended, and why some are short. */
static int print_stacks(const struct view_tree *tree, struct arena *arena, struct buf *ret) {
  struct stacks_row *rows;
  uint32_t count;
  const char *before = "stacks: ";
  if (stacks_total(tree) == 0) return 0;
  int error = stacks_ends_in(tree, arena, &rows, &count);
  for (unsigned i = 0; i < STACK_END_COUNT; i++) {
    enum stack_end end = (enum stack_end)((i + STACK_COMPLETE) % STACK_END_COUNT); /* untold last */
    double share = (double)tree->stacks_weight[end] / (double)stacks_total(tree);
    if (share == 0) continue;
    buf_printf(ret, "%s%.1f %% ", before, 100 * share);
    print_end_name(end, ret);
    before = ", ";
  }
  buf_append_byte(ret, '\n');
  if (error == 0) print_why_short(tree, rows, count, ret);
  return error;
}

/* Its processes used CPU time, but each less than one sampling period. */
static void print_too_short(const struct sampler_row *only, struct buf *ret) {
  char ms[QUANTITY_TEXT_BYTES], hz[QUANTITY_TEXT_BYTES];
  buf_printf(ret,
             "nothing was sampled: no process had the %s ms of CPU time outside the kernel that a "
             "sample at %s Hz takes%s, or no sampler could run (fleetprof doctor)\n",
             quantity_print(1e6 / only->asked_mhz, ms),
             quantity_print(only->asked_mhz / 1000.0, hz),
             strcmp(only->name, "perf") == 0 ? " (a higher --hz helps)" : "");
}

static void print_why_nothing(const struct profile *profile, const struct view_tree *tree,
                              struct buf *ret) {
  const char *why = profile->why;
  const struct sampler_row *only = sampler_list_only(&profile->samplers);
  bool has_gone_on = (profile->marks & MARK_WENT_ON) != 0;
  if (*why == '\0' && !has_gone_on && tree->total_weight > 0 && only != NULL &&
      only->asked_mhz > 0) {
    print_too_short(only, ret);
    return;
  }
  if (has_gone_on)
    why = "the program went on in the background before its first sample";
  else if (*why == '\0')
    why = "the run was too short, or no sampler could run (fleetprof doctor; fleetprof run "
          "--verbose)";
  if (strncmp(why, not_sampled, sizeof not_sampled - 1) == 0) why += sizeof not_sampled - 1;
  buf_printf(ret, "nothing was sampled: %s\n", why);
}

/* Prints why the timer was used instead of perf: its samples are taken at the kernel's ticks. */
static void print_why_timer(const struct profile *profile, struct buf *ret) {
  static const char refused[] = "perf: ";
  if (strncmp(profile->why, refused, sizeof refused - 1) == 0)
    buf_printf(ret, "not by perf: %s\n", profile->why + sizeof refused - 1);
}

int top_text_print_head(const struct profile *profile, const struct view_tree *tree,
                        struct arena *arena, struct buf *ret) {
  print_sums(profile, tree, ret);
  print_loss(tree, ret);
  int error = print_stacks(tree, arena, ret);
  if (error == 0 && tree->total_count == 0)
    print_why_nothing(profile, tree, ret);
  else
    print_unsampled(profile, ret);
  if (error == 0 && tree->total_count > 0) print_why_timer(profile, ret);
  return error;
}

/* Whether NAME contains MODULE, as "tool+0x10" and "[kernel]" do. */
static bool tells_module(const char *name, const char *module) {
  size_t len = strlen(module);
  return strncmp(name, module, len) == 0 && (name[len] == '\0' || name[len] == '+');
}

static int by_name(const void *left, const void *right) {
  const struct top_text_row *a = *(struct top_text_row *const *)left;
  const struct top_text_row *b = *(struct top_text_row *const *)right;
  int order = strcmp(a->name, b->name);
  return order != 0 ? order : strcmp(a->module, b->module);
}

int top_text_tell_apart(struct top_text_row *rows, uint32_t count) {
  struct top_text_row **sorted = calloc((size_t)count + 1, sizeof *sorted);
  if (sorted == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) sorted[i] = &rows[i];
  qsort(sorted, count, sizeof *sorted, by_name);
  for (uint32_t i = 1; i < count; i++)
    if (by_name(&sorted[i - 1], &sorted[i]) == 0)
      sorted[i - 1]->is_alike = sorted[i]->is_alike = true;
  free(sorted);
  return 0;
}

/* FILE with its folder: enough to recognize it. */
static const char *short_file(const char *file) {
  const char *at = strrchr(file, '/');
  while (at != NULL && at > file && at[-1] != '/') at--;
  return at != NULL ? at : file;
}

/* Appends the origin after the name, (MODULE, FILE), as far as it is needed. */
static void print_origin(const struct top_text_row *row, struct buf *ret) {
  bool has_module = *row->module != '\0' && !tells_module(row->name, row->module);
  const char *file = row->is_alike && row->file != NULL ? short_file(row->file) : "";
  if (row->is_alike && *file == '\0') file = "file not known";
  if (!has_module && *file == '\0') return;
  buf_printf(ret, "  (%s%s%s)", has_module ? row->module : "",
             has_module && *file != '\0' ? ", " : "", file);
}

void top_text_print_name(const struct top_text_row *row, unsigned used,
                         const struct top_text *style, struct buf *ret) {
  const char *strong = style->has_colour && row->self.share >= worth_a_look ? BOLD : "";
  const char *weak = style->has_colour ? DIM : "", *plain = style->has_colour ? PLAIN : "";
  struct buf origin = {0};
  print_origin(row, &origin);
  size_t taken = used + name_fit_columns(buf_text(&origin));
  size_t room = style->columns > taken ? style->columns - taken : NAME_FIT_LEAST;
  buf_append_string(ret, strong);
  name_fit_print(row->name, style->columns > 0 ? room : 0, ret);
  if (*strong != '\0') buf_append_string(ret, PLAIN);
  if (origin.len > 0) buf_printf(ret, "%s%s%s", weak, buf_text(&origin), plain);
  buf_append_byte(ret, '\n');
  buf_fini(&origin);
}

void top_text_print_basis(struct view_basis basis, struct buf *ret) {
  if (basis.units == 0) {
    buf_append_string(ret, "intervals: of what ran in this time, by samples\n");
    return;
  }
  buf_printf(ret, "intervals: of boards like these, by how %u %s differ%s\n", basis.units,
             basis.unit, basis.units < FEW_UNITS ? "; so few leave them wide" : "");
}

void top_text_print_rest(const struct top_text_rest *rest, struct buf *ret) {
  if (rest->rows == 0) return;
  buf_printf(ret, "%llu more %s: %.1f %%%s, %llu samples; --limit\n",
             (unsigned long long)rest->rows, rest->what,
             rest->whole > 0 ? 100 * rest->weight / rest->whole : 0, rest->is_self ? " (self)" : "",
             (unsigned long long)rest->samples);
}

void top_text_print_row(const struct top_text_row *row, const struct top_text *style,
                        struct buf *ret) {
  const char *strong = style->has_colour && row->self.share >= worth_a_look ? BOLD : "";
  const char *weak = style->has_colour ? DIM : "", *plain = style->has_colour ? PLAIN : "";
  const char *strong_end = *strong != '\0' ? PLAIN : "";
  buf_printf(ret, "%s%5.1f %%%s  %s%5.1f .. %5.1f %%%s  ", strong, 100 * row->self.share,
             strong_end, weak, 100 * row->self.low, 100 * row->self.high, plain);
  if (row->total >= 0) buf_printf(ret, "%5.1f %%  ", 100 * row->total);
  top_text_print_name(row, row->total >= 0 ? SHARES_COLUMNS : SHARE_COLUMNS, style, ret);
}

static int print_rows(const struct view_tree *tree, const struct view_top_row *rows, uint32_t count,
                      const struct top_text *style, struct buf *ret) {
  struct top_text_row *texts = calloc((size_t)count + 1, sizeof *texts);
  if (texts == NULL) return -ENOMEM;
  for (uint32_t i = 0; i < count; i++) {
    const struct view_function *function = &tree->functions[rows[i].function];
    texts[i] = (struct top_text_row){.name = function->name,
                                     .module = function->module,
                                     .self = rows[i].self,
                                     .total = rows[i].total.share,
                                     .file = function->file};
  }
  int error = top_text_tell_apart(texts, count);
  for (uint32_t i = 0; i < count && error == 0; i++) top_text_print_row(&texts[i], style, ret);
  free(texts);
  return error;
}

/* Prints remedies if much of the time is in no function of the program. */
static void print_hints(const struct profile *profile, const struct view_tree *tree,
                        struct buf *ret) {
  unsigned samplers = (sampler_list_has(&profile->samplers, "perf") ? HINT_PERF : 0) |
                      (sampler_list_has(&profile->samplers, "timer") ? HINT_TIMER : 0);
  const char *kernel = pseudo_hints_kernel(tree);
  const char *unsampled = pseudo_hints_unsampled(tree, samplers);
  if (kernel != NULL) buf_printf(ret, "[kernel]: %s\n", kernel);
  if (unsampled != NULL && samplers != 0) buf_printf(ret, "[unsampled]: %s\n", unsampled);
}

int top_text_print(const struct profile *profile, const struct view_tree *tree,
                   const struct top_text *style, struct arena *arena, struct buf *ret) {
  struct view_top_row *rows;
  uint32_t count, shown;
  int error = view_top(tree, arena, &rows, &count);
  if (error != 0) return error;
  error = top_text_print_head(profile, tree, arena, ret);
  if (error != 0) return error;
  if (count > 0) top_text_print_basis(view_basis(tree), ret);
  if (count > 0) buf_append_string(ret, TOP_TEXT_HEADING);
  shown = count < style->limit ? count : style->limit;
  error = print_rows(tree, rows, shown, style, ret);
  if (error != 0) return error;
  struct top_text_rest rest = {
      .what = "functions", .is_self = true, .whole = (double)tree->total_weight};
  for (uint32_t i = shown; i < count; i++, rest.rows++) {
    rest.weight += (double)rows[i].self_weight;
    rest.samples += rows[i].self_count;
  }
  top_text_print_rest(&rest, ret);
  print_hints(profile, tree, ret);
  return ret->failed ? -ENOMEM : 0;
}
