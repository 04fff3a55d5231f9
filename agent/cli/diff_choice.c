/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_choice.h"

#include "view/diff_units.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { FAULT_BYTES = 200 };

static const char *const unit_options[] = {"--unit", "--a-units", "--b-units"};

/* Returns the value of the option NAME on the command line, or "" if it has none.  Returns NULL if
   NAME is not on the command line: the common config file may set it. */
static const char *find_on_line(int argc, char *const argv[], const char *name) {
  size_t len = strlen(name);
  for (int i = 1; i < argc; i++) {
    if (strncmp(argv[i], name, len) != 0) continue;
    if (argv[i][len] == '=') return argv[i] + len + 1;
    if (argv[i][len] == '\0') return i + 1 < argc ? argv[i + 1] : "";
  }
  return NULL;
}

static bool is_on_line(int argc, char *const argv[], const char *name) {
  return find_on_line(argc, argv, name) != NULL;
}

/* 0.15 may be meant as 15 %: below 1 the percent sign is required. */
static bool is_ambiguous(const char *percent) {
  return percent != NULL && strncmp(percent, "0.", 2) == 0 && strchr(percent, '%') == NULL;
}

static bool is_one_of(const char *word, const char *one, const char *other) {
  return word == NULL || strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

/* Reads the unit of CHOICE into RET.  Returns its fault, or NULL. */
static const char *read_unit(const struct diff_choice *choice, struct view_units *ret) {
  static char text[FAULT_BYTES];
  const char *const texts[] = {choice->unit, choice->a_units, choice->b_units};
  enum diff_units_part part;
  const char *fault = diff_units_parse(texts, ret, &part);
  if (fault == NULL) return NULL;
  if (texts[part] != NULL)
    snprintf(text, sizeof text, "%s: \"%.64s\" %s", unit_options[part], texts[part], fault);
  else
    snprintf(text, sizeof text, "%s: %s", unit_options[part], fault);
  return text;
}

static bool has_unit_on_line(int argc, char *const argv[]) {
  for (unsigned i = 0; i < sizeof unit_options / sizeof *unit_options; i++)
    if (is_on_line(argc, argv, unit_options[i])) return true;
  return false;
}

const char *diff_choice_find_fault(const struct diff_choice *choice, bool has_diff, int argc,
                                   char *const argv[]) {
  if (!is_one_of(choice->measure, "share", "cpu")) return "--measure: share or cpu";
  if (!is_one_of(choice->of, "self", "total")) return "--of: self or total";
  if (!has_diff && is_on_line(argc, argv, "--fail-over"))
    return "--fail-over: of what?  It belongs to --diff FILE";
  if (!has_diff && (is_on_line(argc, argv, "--measure") || is_on_line(argc, argv, "--of")))
    return "--measure and --of: of what?  They belong to --diff FILE";
  if (!has_diff && has_unit_on_line(argc, argv))
    return "--unit, --a-units and --b-units: of what?  They belong to --diff FILE";
  struct view_units ignored;
  const char *fault = has_diff ? read_unit(choice, &ignored) : NULL;
  if (fault != NULL) return fault;
  if (is_ambiguous(find_on_line(argc, argv, "--fail-over")))
    return "--fail-over: a number below 1 needs its sign: 0.15% or 15%";
  if (!(choice->fail_over >= 0) && is_on_line(argc, argv, "--both"))
    return "--both: of which gate?  It belongs to --fail-over PERCENT";
  return NULL;
}

void diff_choice_apply(const struct diff_choice *choice, struct view_diff_options *ret) {
  const char *measure = choice->measure != NULL ? choice->measure : "cpu";
  const char *of = choice->of != NULL ? choice->of : "total";
  ret->measure = strcmp(measure, "share") == 0 ? VIEW_SHARES : VIEW_CPU;
  ret->of = strcmp(of, "self") == 0 ? VIEW_SELF : VIEW_TOTAL;
  read_unit(choice, &ret->units);
}
