/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `report --diff` and `diff`: the measure, and the failure threshold. */
#ifndef CLI_DIFF_CHOICE_H
#define CLI_DIFF_CHOICE_H

#include "view/diff.h"

struct diff_choice {
  const char *measure, *of;             /* NULL: the default */
  const char *unit, *a_units, *b_units; /* NULL: not given */
  double fail_over; /* percent; less than 0 before options are read: not given */
  bool is_both;
};

/* The rows of an option table.  SETTINGS is the settings' type; its MEMBER is a struct diff_choice.
   WHEN is prepended to their help; BY_DEFAULT is the measure without --measure. */
/* clang-format off */
#define DIFF_CHOICE_ROWS(settings, member, when, by_default) \
    {"measure", 0, "share|cpu", NULL, "What is compared", \
     when "CPU time per run, board-hour or --unit (cpu), or each side's own shares (share); " \
     by_default " by default", \
     OPTION_STRING, offsetof(settings, member.measure)}, \
    {"of", 0, "self|total", NULL, "What is compared", \
     when "a function with all that it calls (total, the default) or alone (self)", \
     OPTION_STRING, offsetof(settings, member.of)}, \
    {"unit", 0, "NAME", NULL, "What is compared", \
     when "CPU time per NAME (request, frame), with --a-units and --b-units", \
     OPTION_STRING, offsetof(settings, member.unit)}, \
    {"a-units", 0, "N", NULL, "What is compared", \
     when "how many of --unit the first side has in all", \
     OPTION_STRING, offsetof(settings, member.a_units)}, \
    {"b-units", 0, "N", NULL, "What is compared", \
     when "how many of --unit the second side has in all", \
     OPTION_STRING, offsetof(settings, member.b_units)}, \
    {"fail-over", 0, "PERCENT", NULL, "Gate", \
     when "exit 3 when all CPU time, or a function's, has surely increased by more than this " \
     "(such as 10%): a function's by more than this part of all; time that moved between " \
     "functions (renamed, split, inlined, called from elsewhere) is no increase", \
     OPTION_PERCENT, offsetof(settings, member.fail_over)}, \
    {"both", 0, NULL, NULL, "Gate", \
     "with --fail-over: also when it has decreased by more", \
     OPTION_FLAG, offsetof(settings, member.is_both)}
/* clang-format on */

/* Returns the fault of CHOICE, read from the command line ARGV, or NULL.  The text is valid until
   the next call.  HAS_DIFF: there are two sides. */
const char *diff_choice_find_fault(const struct diff_choice *choice, bool has_diff, int argc,
                                   char *const argv[]);

/* Sets measure, weights and the unit, if named, of RET from CHOICE, which has no fault. */
void diff_choice_apply(const struct diff_choice *choice, struct view_diff_options *ret);

#endif
