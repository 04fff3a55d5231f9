/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `fleetprof report`, checked. */
#ifndef CLI_REPORT_SETTINGS_H
#define CLI_REPORT_SETTINGS_H

#include "common/options.h"
#include "diff_choice.h"

#include <stdbool.h>
#include <stdint.h>

enum report_format {
  REPORT_TOP,
  REPORT_FLAME,
  REPORT_JSON,
  REPORT_FOLDED,
  REPORT_PPROF,
  REPORT_SPEEDSCOPE,
  REPORT_CALLGRIND,
  REPORT_PERF_SCRIPT,
  REPORT_COUNTS,
};

enum { REPORT_ERROR_BYTES = 512, REPORT_LIMIT_MAX = 1000000 };

/* As filled in from the option table. */
struct report_options {
  const char *format, *output, *translator, *module, *counts_to;
  struct option_list diff; /* the runs of side b */
  uint64_t limit, depth;
  bool is_just_pcs, is_just_counts, is_verbose;
  struct diff_choice choice; /* for --diff */
  struct option_list debug;
};

struct report_settings {
  struct report_options options;
  enum report_format format;
  char *const *files;
  int file_count;
  bool is_done; /* --help or --version was printed */
  char error[REPORT_ERROR_BYTES];
};

/* Reads and checks the command line of `report`; options and files may be in any order.  Returns 0,
   or -EINVAL with one line in RET->error. */
int report_settings_parse(int argc, char **argv, struct report_settings *ret);

#endif
