/* SPDX-License-Identifier: Apache-2.0 */
/* What `report` was asked for. */
#include "report_settings.h"
#include "commands.h"
#include "common/options.h"
#include "debug_choice.h"
#include "diff_gate.h"
#include "report/flame_text.h"
#include "word_order.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OFFSET(field) offsetof(struct report_options, field)

static const struct option rows[] = {
    {"format", 'f', "top|flame|json|folded|pprof|speedscope|callgrind|perf-script|counts", "top",
     "What is shown",
     "top (functions by their share; names are cut to the width of a terminal, and whole in a pipe "
     "or a file), flame (a flame graph of text), json (the table), folded (for "
     "flame graphs elsewhere), pprof, speedscope, callgrind, perf-script (files for those tools) "
     "or counts (addresses)",
     OPTION_STRING, OFFSET(format)},
    {"limit", 'n', "N", "100", "What is shown",
     "functions in the table, lines of the flame graph; what is left out is said", OPTION_COUNT,
     OFFSET(limit)},
    {"depth", 0, "N", "16", "What is shown", "how deep calls are shown: flame alone", OPTION_COUNT,
     OFFSET(depth)},
    {"output", 'o', "FILE", NULL, "What is shown",
     "write it there and not to stdout; on the command line only, since `run` calls its profile so",
     OPTION_PATH, OFFSET(output)},
    {"diff", 0, "FILE", NULL, "What is shown",
     "what is different in FILE, function by function, by their names and the file names of their "
     "modules; the program itself may have another file name there (top or json)",
     OPTION_PATH, OFFSET(diff)},
    DEBUG_CHOICE_ROW(struct report_options, debug),
    {"translator", 0, "CMD", NULL, "Names",
     "name addresses by CMD, which reads them a line each, as addr2line does; with $MODULE (a "
     "path) in it CMD is asked about every module, else about the program itself",
     OPTION_STRING, OFFSET(translator)},
    {"module", 0, "NAME", NULL, "Names", "the module that CMD or the counts are for", OPTION_STRING,
     OFFSET(module)},
    DIFF_GATE_ROW(struct report_options, fail_over, "with --diff: "),
    {"just-pcs", 0, NULL, NULL, "Counts", "addresses alone, of one module", OPTION_FLAG,
     OFFSET(is_just_pcs)},
    {"just-counts", 0, NULL, NULL, "Counts", "counts alone, line by line those of the addresses",
     OPTION_FLAG, OFFSET(is_just_counts)},
    {"counts-to", 'F', "FIFO", NULL, "Counts", "counts to FIFO and addresses to stdout",
     OPTION_PATH, OFFSET(counts_to)},
    {"verbose", 'v', NULL, NULL, "What it says",
     "say on stderr which modules have no names and why", OPTION_FLAG, OFFSET(is_verbose)},
};

static const struct option_table table = {
    .usage = "fleetprof report [OPTION]... FILE...",
    .summary = "Shows what `fleetprof run --output` wrote, or a histogram or recorder that was "
               "left in the\n"
               "kept folder of the state (all that it counted, shipped or not); several files are "
               "added up.",
    .epilogue =
        "EXAMPLES\n"
        "  fleetprof run --output sort.fp -- sort big.txt; fleetprof report sort.fp\n"
        "  fleetprof report monday.fp tuesday.fp --format pprof >week.pb.gz\n"
        "  fleetprof report before.fp --diff after.fp --fail-over 2%\n"
        "  fleetprof report x.fp --translator 'addr2line -f -C -e \"$MODULE\"'\n"
        "  fleetprof report x.fp --format folded | grep dictFind    who calls it, and whom\n"
        "  fleetprof report x.fp --format callgrind -o x.cg; callgrind_annotate x.cg    lines\n"
        "\nEXIT STATUS\n"
        "  0  shown; with --fail-over, no function has surely changed by more\n"
        "  1  a file cannot be read, or the translator failed; --fail-over: a side has no\n"
        "     samples, or most of one is without names and of another build (--debug DIR)\n"
        "  2  what was asked for is wrong\n"
        "  3  --fail-over: a function has changed by more\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

static const char *const formats[] = {"top",        "flame",     "json",        "folded", "pprof",
                                      "speedscope", "callgrind", "perf-script", "counts"};

/* Whether columns of --format counts are asked for, which need not be named then. */
static bool is_column(const struct report_options *options) {
  return options->is_just_pcs || options->is_just_counts || options->counts_to != NULL;
}

/* What the other options ask of the format, or NULL. */
static const char *find_format_fault(const struct report_settings *settings) {
  const struct report_options *options = &settings->options;
  if (options->is_just_pcs + options->is_just_counts + (options->counts_to != NULL) > 1)
    return "--just-pcs, --just-counts and --counts-to: give one of them";
  if (is_column(options) && settings->format != REPORT_COUNTS)
    return "--just-pcs, --just-counts and --counts-to belong to --format counts";
  if (options->diff != NULL && settings->format != REPORT_TOP && settings->format != REPORT_JSON)
    return "--diff: is shown as top or json";
  if (options->output != NULL && options->counts_to != NULL)
    return "--output and --counts-to: give one of them";
  for (int i = 0; i < settings->file_count && options->output != NULL; i++)
    if (strcmp(options->output, settings->files[i]) == 0)
      return "--output: is the profile that is shown: give another file";
  if (settings->format == REPORT_PPROF && options->output == NULL && isatty(STDOUT_FILENO) == 1)
    return "--format pprof: is binary; send it to a file (--output FILE.pb.gz)";
  return NULL;
}

/* Whether the option NAME is on the command line, and not in the file of all commands. */
static bool is_on_line(int argc, char *const argv[], const char *name) {
  size_t len = strlen(name);
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], name, len) == 0 && (argv[i][len] == '\0' || argv[i][len] == '='))
      return true;
  return false;
}

static int find_format(struct report_settings *settings) {
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(settings->options.format, formats[i]) != 0) continue;
    settings->format = (enum report_format)i;
    return 0;
  }
  int len = snprintf(settings->error, sizeof settings->error,
                     "--format: there is no '%.100s'; one of:", settings->options.format);
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
    len += snprintf(settings->error + len, sizeof settings->error - (size_t)len, " %s", formats[i]);
  return -EINVAL;
}

int report_settings_parse(int argc, char **argv, struct report_settings *ret) {
  struct options_result result;
  memset(ret, 0, sizeof *ret);
  ret->options.fail_over = -1;
  argc = word_order_sort(&table, argc, argv);
  if (argc < 0) snprintf(ret->error, sizeof ret->error, "%s", strerror(-argc));
  if (argc < 0) return -EINVAL;
  if (options_parse(&table, argc, argv, &ret->options, &result, ret->error, sizeof ret->error) != 0)
    return -EINVAL;
  ret->is_done = result.is_done;
  if (ret->is_done) return 0;
  /* `output =` in the file of all commands is where `run` writes: what is shown here. */
  if (ret->options.output != NULL && !options_is_on_line(argc, argv, ret->options.output))
    ret->options.output = NULL;
  ret->files = argv + result.first_positional;
  ret->file_count = argc - result.first_positional;
  /* A word that is kept for all commands may be one of `status`. */
  if (strcmp(ret->options.format, "table") == 0 &&
      !options_is_on_line(argc, argv, ret->options.format))
    ret->options.format = formats[REPORT_TOP];
  bool is_default = strcmp(ret->options.format, formats[REPORT_TOP]) == 0 &&
                    !options_is_on_line(argc, argv, ret->options.format);
  if (is_default && is_column(&ret->options)) ret->options.format = formats[REPORT_COUNTS];
  if (find_format(ret) != 0) return -EINVAL;
  const char *fault = find_format_fault(ret);
  if (fault == NULL && ret->options.diff == NULL && is_on_line(argc, argv, "--fail-over"))
    fault = "--fail-over: of what?  It belongs to --diff FILE";
  if (ret->file_count == 0)
    fault = "no file; usage: fleetprof report [OPTION]... FILE...";
  else if (ret->options.limit == 0 || ret->options.limit > REPORT_LIMIT_MAX)
    fault = "--limit: not a number between 1 and 1000000";
  else if (ret->options.depth == 0 || ret->options.depth > FLAME_TEXT_DEPTH_MAX)
    fault = "--depth: not a number between 1 and 200";
  if (fault == NULL) return 0;
  snprintf(ret->error, sizeof ret->error, "%s", fault);
  return -EINVAL;
}
