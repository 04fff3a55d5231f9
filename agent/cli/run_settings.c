/* SPDX-License-Identifier: Apache-2.0 */
/* Finds every fault of a command line before the program starts.  A sampler of a later version is
   reported as "not supported", any other unknown name as unknown.

   An option that contradicts another is an error on the command line.  From the environment it is
   ignored: it may be meant for an outer run. */
#include "run_settings.h"
#include "commands.h"
#include "enroll_call.h"
#include "hz_parse.h"
#include "paths.h"
#include "proto/limits.h"
#include "ring/ring_clock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OFFSET(field) offsetof(struct run_options, field)

enum { PLAIN_RATE_MHZ = 99 * 1000 };

static const struct option rows[] = {
    {"service", 0, "NAME", NULL, "What is profiled",
     "name of the service; the name that the program is started by unless given", OPTION_STRING,
     OFFSET(service)},
    {"label", 'l', "K=V", NULL, "What is profiled", "label of the samples; may be given many times",
     OPTION_LIST, OFFSET(labels)},
    {"hz", 0, "HZ", NULL, "How",
     "samples a second of CPU time, 0.1 to 10000; without it about 1000 at the start, then fewer, "
     "so that they cost 1 % of that time at most, down to 99 after a minute; histogram, recorder "
     "and itimer: 99",
     OPTION_STRING, OFFSET(hz)},
    {"sampler", 0, "auto|perf|timer|itimer|itimer-virtual", "auto", "How",
     "auto, perf or timer; what cannot run falls to the next, and status says why; perf samples "
     "the "
     "kernel's functions, too, for root, with CAP_PERFMON, or where perf_event_paranoid is at most "
     "1, else their time is one row, [kernel]; by name only: "
     "itimer, itimer-virtual (user time), one clock for the whole process, which survives exec and "
     "may kill the next program if that does not load the agent",
     OPTION_STRING, OFFSET(sampler)},
    {"unwind", 0, "auto|cfi|fp|lr|none", "auto", "How",
     "how callers are found: auto (unwind tables, frame pointers and the link register as the code "
     "needs), cfi (the same, and status says so where tables cannot be used), fp (frame pointers), "
     "lr (the first one only, by the link register: the same as --collect pc-lr) or none",
     OPTION_STRING, OFFSET(unwind)},
    {"collect", 0, "stacks|pc-lr|histogram|recorder", "stacks", "How",
     "stacks, pc-lr (two words a sample), histogram (fixed memory) or recorder (the last moments); "
     "the latter two are files in the kept folder of the state until they are shipped",
     OPTION_STRING, OFFSET(collect.collect)},
    {"bin-bytes", 0, "BYTES", NULL, "How",
     "histogram: code bytes a bin, a power of two from 2 to 4096; 16 unless given", OPTION_STRING,
     OFFSET(collect.bin_bytes)},
    {"counter-bytes", 0, "1|2|4", NULL, "How", "histogram: bytes a counter; 4 unless given",
     OPTION_STRING, OFFSET(collect.counter_bytes)},
    {"last", 0, "N", NULL, "How",
     "recorder: the last samples of each thread, at least so many; 1022 unless given",
     OPTION_STRING, OFFSET(collect.last)},
    {"state", 0, "DIR", NULL, "Where to",
     "the board's directory: its daemon, key, certificate and spool", OPTION_PATH, OFFSET(state)},
    {"collector", 0, "HOST:PORT", NULL, "Where to",
     "the collector of a daemon that must be started first", OPTION_STRING, OFFSET(collector)},
    {"output", 'o', "FILE", NULL, "Where to",
     "write the profile into FILE for `fleetprof report`; "
     "neither daemon nor collector take part, an earlier profile is kept as FILE.old",
     OPTION_PATH, OFFSET(output)},
    {"flush-timeout", 0, "TIME", "10s", "Where to",
     "how long to wait at the end until the samples are acked", OPTION_DURATION,
     OFFSET(flush_timeout_ns)},
    {"verbose", 'v', NULL, NULL, "What it says", "say on stderr what was done, terminal or not",
     OPTION_FLAG, OFFSET(is_verbose)},
};

static const struct option_table table = {
    .usage = "fleetprof run [OPTION]... -- PROGRAM [ARG]...",
    .summary = "Runs a program under a sampler and exits with the program's own status.",
    .epilogue =
        "EXAMPLES\n"
        "  fleetprof run -- redis-server --port 7000\n"
        "  fleetprof run --output sort.fp -- sort big.txt; fleetprof report sort.fp\n"
        "  fleetprof run --service billing --label stage=test --hz 199 -- ./billing\n"
        "\nEXIT STATUS\n"
        "  that of PROGRAM, or 128+N when signal N ended it; 2 when it was not started for\n"
        "  a wrong option, a PROGRAM that is not there or cannot be executed, or an\n"
        "  --output that cannot be written; 1 when there was no room to start it: no process\n"
        "  for it, or no daemon for --output\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
    .is_usual_state = paths_is_usual_state,
};

/* A value of an option, of this version or of a later one. */
struct choice {
  const char *name;
  int value; /* -1: not in this version */
};

static const struct choice samplers[] = {{"auto", RUN_SAMPLER_AUTO},
                                         {"perf", RUN_SAMPLER_PERF},
                                         {"timer", RUN_SAMPLER_TIMER},
                                         {"itimer", RUN_SAMPLER_ITIMER},
                                         {"itimer-virtual", RUN_SAMPLER_ITIMER_VIRTUAL},
                                         {"ptrace", -1},
                                         {NULL, 0}};
static const struct choice unwinders[] = {{"auto", UNWIND_CHOICE_AUTO}, {"fp", UNWIND_CHOICE_FP},
                                          {"cfi", UNWIND_CHOICE_CFI},   {"lr", UNWIND_CHOICE_LR},
                                          {"none", UNWIND_CHOICE_NONE}, {NULL, 0}};

static int choose(const struct choice *choices, const char *option, const char *given,
                  struct run_settings *settings) {
  size_t room = sizeof settings->error, len;
  bool is_later = false;
  for (const struct choice *choice = choices; choice->name != NULL; choice++) {
    if (strcmp(choice->name, given) != 0) continue;
    if (choice->value >= 0) return choice->value;
    is_later = true;
  }
  snprintf(settings->error, room,
           is_later ? "--%s: '%.100s' is not supported in this version; one of:"
                    : "--%s: there is no '%.100s'; one of:",
           option, given);
  for (; choices->name != NULL; choices++) {
    len = strlen(settings->error);
    if (choices->value >= 0) snprintf(settings->error + len, room - len, " %s", choices->name);
  }
  return -EINVAL;
}

static bool is_name_byte(char byte, bool is_first) {
  bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_';
  return is_letter || (!is_first && byte >= '0' && byte <= '9');
}

static bool is_printable(const char *text) {
  for (; *text != '\0'; text++)
    if ((unsigned char)*text < 0x20 || *text == 0x7f) return false;
  return true;
}

/* Returns the fault of the label TEXT, or NULL. */
static const char *label_fault(const char *text) {
  static const char *const taken[] = {"board",  "service", "exe",   "build_id",
                                      "thread", "arch",    "kernel"};
  size_t len = strcspn(text, "=");
  if (text[len] != '=') return "is not NAME=VALUE";
  if (len == 0 || len > LIMIT_NAME_BYTES) return "has no name, or one that is too long";
  for (size_t i = 0; i < len; i++)
    if (!is_name_byte(text[i], i == 0)) return "has a name of more than letters, digits and _";
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (strlen(taken[i]) == len && memcmp(taken[i], text, len) == 0)
      return "has a name that every sample carries already";
  if (strlen(text + len + 1) > LIMIT_VALUE_BYTES) return "has a value that is too long";
  return is_printable(text) ? NULL : "holds a control character";
}

/* Whether an earlier label has the name of the label at INDEX. */
static bool is_given_twice(const struct option_list *labels, unsigned index) {
  size_t len = strcspn(labels->values[index], "=") + 1;
  for (unsigned i = 0; i < index; i++)
    if (strncmp(labels->values[i], labels->values[index], len) == 0) return true;
  return false;
}

static int join_labels(struct run_settings *settings) {
  const struct option_list *labels = &settings->options.labels;
  size_t used = 0;
  for (unsigned i = 0; i < labels->count; i++) {
    const char *fault = label_fault(labels->values[i]);
    if (fault == NULL && is_given_twice(labels, i)) fault = "has a name that was given before";
    size_t left = sizeof settings->labels - used;
    int len = snprintf(settings->labels + used, left, "%s%s", i > 0 ? "\n" : "", labels->values[i]);
    if (fault == NULL && (len < 0 || (size_t)len >= left)) fault = "is one too many: no more room";
    if (fault != NULL) {
      snprintf(settings->error, sizeof settings->error, "--label: '%.100s' %s", labels->values[i],
               fault);
      return -EINVAL;
    }
    used += (size_t)len;
  }
  return 0;
}

/* The daemon would find it too, but after the program has started, and report it in its own log. */
static int check_collector(struct run_settings *settings) {
  struct endpoint address;
  const char *given = settings->options.collector;
  if (given == NULL || endpoint_parse(given, &address) == 0) return 0;
  snprintf(settings->error, sizeof settings->error,
           "--collector: '%.200s' is not HOST:PORT with a port from 1 to 65535", given);
  return -EINVAL;
}

static const char *unwind_fault(const struct run_settings *settings) {
  enum ring_collect collect = settings->collect.collect;
  if (collect == RING_STACKS || settings->unwind == UNWIND_CHOICE_AUTO) return NULL;
  if (collect == RING_PC_LR && settings->unwind == UNWIND_CHOICE_LR) return NULL;
  return collect == RING_PC_LR
             ? "--unwind: --collect pc-lr has the first caller only, by the link register (lr)"
             : "--unwind: a histogram or recorder has no callers; only --collect stacks does";
}

/* Returns its fault, or NULL. */
static const char *choose_unwind(struct run_settings *settings) {
  const char *fault = unwind_fault(settings);
  if (fault != NULL && settings->options.unwind == getenv("FLEETPROF_UNWIND")) {
    settings->unwind = UNWIND_CHOICE_AUTO;
    return NULL;
  }
  if (fault == NULL && settings->unwind == UNWIND_CHOICE_LR) settings->collect.collect = RING_PC_LR;
  return fault;
}

static const char *sampler_fault(const struct run_settings *settings) {
  if (!collect_needs_agent(settings->collect.collect)) return NULL;
  if (settings->sampler == RUN_SAMPLER_PERF)
    return "--sampler perf: a histogram or recorder is written inside the program; "
           "take --sampler timer or leave it to auto";
  if (settings->sampler >= RUN_SAMPLER_ITIMER)
    return "--sampler itimer: makes stacks and pc-lr; for a histogram or recorder take --sampler "
           "timer or leave it to auto";
  return NULL;
}

static const char *word_fault(const struct run_options *options) {
  if (options->output != NULL && strcmp(options->output, "-") == 0)
    return "--output: a profile cannot go to stdout, which is the program's; give a file (./- for "
           "one of that name)";
  if (options->service != NULL &&
      (strlen(options->service) >= INTAKE_SERVICE_BYTES || !is_printable(options->service)))
    return "--service: longer than 127 bytes, or with a control character";
  return NULL;
}

/* Histogram and recorder are for programs that run for long.  An interval timer that is faster than
   the kernel's tick loses signals.  So these get a fixed rate. */
static void choose_rate(struct run_settings *settings) {
  const char *hz = settings->options.hz;
  settings->is_auto_rate = hz == NULL && settings->collect.collect <= RING_PC_LR &&
                           settings->sampler < RUN_SAMPLER_ITIMER;
  settings->asked_mhz = hz != NULL               ? hz_parse(hz)
                        : settings->is_auto_rate ? INTAKE_RATE_MHZ_AUTO
                                                 : PLAIN_RATE_MHZ;
}

/* Parses each option on its own. */
static int parse_words(struct run_settings *settings) {
  const struct run_options *options = &settings->options;
  int sampler = choose(samplers, "sampler", options->sampler, settings);
  int unwind = choose(unwinders, "unwind", options->unwind, settings);
  if (sampler < 0 || unwind < 0 ||
      collect_choice_parse(&options->collect, &settings->collect, settings->error,
                           sizeof settings->error) != 0)
    return -EINVAL;
  settings->sampler = (enum run_sampler)sampler;
  settings->unwind = (enum unwind_choice)unwind;
  choose_rate(settings);
  if (settings->asked_mhz != 0) return 0;
  snprintf(settings->error, sizeof settings->error, "--hz: '%.100s' is not " HZ_WANTED,
           options->hz);
  return -EINVAL;
}

static int check(struct run_settings *settings) {
  if (parse_words(settings) != 0) return -EINVAL;
  const char *fault = choose_unwind(settings);
  if (fault == NULL) fault = sampler_fault(settings);
  if (fault == NULL) fault = word_fault(&settings->options);
  if (fault == NULL && check_collector(settings) != 0) return -EINVAL;
  if (fault == NULL) return join_labels(settings);
  snprintf(settings->error, sizeof settings->error, "%s", fault);
  return -EINVAL;
}

int run_settings_parse(int argc, char **argv, struct run_settings *ret) {
  struct options_result result;
  memset(ret, 0, sizeof *ret);
  if (options_parse(&table, argc, argv, &ret->options, &result, ret->error, sizeof ret->error) != 0)
    return -EINVAL;
  ret->is_done = result.is_done;
  if (ret->is_done) return 0;
  if (check(ret) != 0) return -EINVAL;
  ret->program = argv + result.first_positional;
  if (result.first_positional < argc && *ret->program[0] != '\0') return 0;
  snprintf(ret->error, sizeof ret->error, "no program to run; usage: %s", table.usage);
  return -EINVAL;
}

const char *run_settings_agent(const struct run_settings *settings) {
  switch (settings->sampler) {
  case RUN_SAMPLER_ITIMER:
    return ring_clock_sampler(RING_CLOCK_PROF);
  case RUN_SAMPLER_ITIMER_VIRTUAL:
    return ring_clock_sampler(RING_CLOCK_VIRTUAL);
  default:
    return ring_clock_sampler(RING_CLOCK_THREAD);
  }
}
