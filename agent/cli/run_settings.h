/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `fleetprof run`, checked. */
#ifndef CLI_RUN_SETTINGS_H
#define CLI_RUN_SETTINGS_H

#include "collect_choice.h"
#include "common/options.h"
#include "intake/intake_format.h"
#include "intake/unwind_choice.h"

#include <stdbool.h>
#include <stdint.h>

enum run_sampler {
  RUN_SAMPLER_AUTO,
  RUN_SAMPLER_PERF,
  RUN_SAMPLER_TIMER,
  RUN_SAMPLER_ITIMER,
  RUN_SAMPLER_ITIMER_VIRTUAL
};

enum { RUN_ERROR_BYTES = 512 };

/* As filled in from the option table. */
struct run_options {
  const char *service, *hz, *sampler, *unwind, *output, *state, *collector;
  struct collect_words collect;
  struct option_list labels;
  uint64_t flush_timeout_ns;
  bool is_verbose;
};

struct run_settings {
  struct run_options options;
  enum run_sampler sampler;
  enum unwind_choice unwind;
  struct collect_choice collect;
  uint32_t asked_mhz; /* thousandths of a hertz */
  bool is_auto_rate;  /* no rate is given: the daemon lowers the rate to hold the budget */
  char labels[INTAKE_LABELS_BYTES]; /* k=v, one a line */
  char *const *program;             /* argv of the program, NULL-terminated */
  bool is_done;                     /* --help or --version was printed */
  char error[RUN_ERROR_BYTES];
};

/* Reads and checks the command line of `run`.  Returns 0, or -EINVAL with one line in RET->error
   that names the option and its fault. */
int run_settings_parse(int argc, char **argv, struct run_settings *ret);

/* The name of the agent's sampler for SETTINGS: "timer" unless another is given. */
const char *run_settings_agent(const struct run_settings *settings);

#endif
