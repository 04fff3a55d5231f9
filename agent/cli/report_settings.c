/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the settings of `report`. */
#include "report_settings.h"
#include "commands.h"
#include "common/options.h"
#include "debug_choice.h"
#include "report/flame_text.h"
#include "word_order.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
     "what is different in FILE (side b), function by function, by their names and the file names "
     "of their modules; the program itself may have another file name there (top or json); given "
     "several times: the runs of side b; the other files are those of side a",
     OPTION_LIST, OFFSET(diff)},
    DEBUG_CHOICE_ROW(struct report_options, debug),
    {"translator", 0, "CMD", NULL, "Names",
     "name addresses by CMD, which reads them a line each, as addr2line does; with $MODULE (a "
     "path) in it CMD is asked about every module, else about the program itself",
     OPTION_STRING, OFFSET(translator)},
    {"module", 0, "NAME", NULL, "Names", "the module that CMD or the counts are for", OPTION_STRING,
     OFFSET(module)},
    DIFF_CHOICE_ROWS(struct report_options, choice, "with --diff: ", "cpu"),
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
        "  fleetprof report a1.fp a2.fp a3.fp --diff b1.fp --diff b2.fp --diff b3.fp --fail-over "
        "10%\n"
        "  fleetprof report a.fp --diff b.fp --unit request --a-units 20000 --b-units 25000\n"
        "  fleetprof report x.fp --translator 'addr2line -f -C -e \"$MODULE\"'\n"
        "  fleetprof report x.fp --format folded | grep dictFind    who calls it, and whom\n"
        "  fleetprof report x.fp --format callgrind -o x.cg; callgrind_annotate x.cg    lines\n"
        "\nEXIT STATUS\n"
        "  0  shown; with --fail-over, nothing has surely increased by more\n"
        "  1  a file cannot be read, or the translator failed; --fail-over: a side has no\n"
        "     samples, or most of one is without names and of another build (--debug DIR)\n"
        "  2  what was asked for is wrong\n"
        "  3  --fail-over: all CPU time per run, or a function's, has increased by more\n"
        "     (--both: or decreased)\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

static const char *const formats[] = {"top",        "flame",     "json",        "folded", "pprof",
                                      "speedscope", "callgrind", "perf-script", "counts"};

/* Whether an option implies --format counts, which then may be omitted. */
static bool is_column(const struct report_options *options) {
  return options->is_just_pcs || options->is_just_counts || options->counts_to != NULL;
}

/* Returns why the other options do not fit the format, or NULL. */
static const char *find_format_fault(const struct report_settings *settings) {
  const struct report_options *options = &settings->options;
  if (options->is_just_pcs + options->is_just_counts + (options->counts_to != NULL) > 1)
    return "--just-pcs, --just-counts and --counts-to: give one of them";
  if (is_column(options) && settings->format != REPORT_COUNTS)
    return "--just-pcs, --just-counts and --counts-to belong to --format counts";
  if (options->diff.count > 0 && settings->format != REPORT_TOP && settings->format != REPORT_JSON)
    return "--diff: is shown as top or json";
  if (options->output != NULL && options->counts_to != NULL)
    return "--output and --counts-to: give one of them";
  for (int i = 0; i < settings->file_count && options->output != NULL; i++)
    if (strcmp(options->output, settings->files[i]) == 0)
      return "--output: is the profile that is shown: give another file";
  for (unsigned i = 0; i < options->diff.count && options->output != NULL; i++)
    if (strcmp(options->output, options->diff.values[i]) == 0)
      return "--output: is the profile of --diff: give another file";
  if (settings->format == REPORT_PPROF && options->output == NULL && isatty(STDOUT_FILENO) == 1)
    return "--format pprof: is binary; send it to a file (--output FILE.pb.gz)";
  return NULL;
}

/* The index of WORD, or of the argument that ends in it, in the COUNT WORDS; COUNT if there is
   none. */
static int place_of(const char *word, int count, char *const words[]) {
  for (int i = 1; i < count; i++)
    if (words[i] == word || (strncmp(words[i], "--diff=", strlen("--diff=")) == 0 &&
                             words[i] + strlen("--diff=") == word))
      return i;
  return count;
}

static bool is_same_file(const char *one, const char *other) {
  struct stat a, b;
  if (strcmp(one, other) == 0) return true;
  return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A file belongs to side b only if it has its own --diff.  So a file after a --diff may be meant
   for b, unless it is the only candidate for side a.  A run cannot be compared with a sum that
   includes it.  WORDS: the command line as given.  Returns 0, or -EINVAL with the error. */
static int check_sides(struct report_settings *settings, int count, char *const words[]) {
  const struct option_list *diff = &settings->options.diff;
  const char *fault = NULL;
  if (diff->count == 0) return 0;
  int first = place_of(diff->values[0], count, words);
  for (unsigned i = 0; i < diff->count; i++)
    if (diff->values[i][0] == '\0') fault = "--diff: is empty";
  for (int i = 0; i < settings->file_count && fault == NULL; i++) {
    const char *file = settings->files[i];
    if (settings->file_count > 1 && place_of(file, count, words) > first) {
      snprintf(settings->error, sizeof settings->error,
               "%.100s: of which side? It stands behind --diff: put the runs of side a first, and "
               "--diff before each run of side b (a1.fp a2.fp --diff b1.fp --diff b2.fp)",
               file);
      return -EINVAL;
    }
    for (unsigned j = 0; j < diff->count && settings->file_count + (int)diff->count > 2; j++)
      if (is_same_file(file, diff->values[j])) {
        snprintf(settings->error, sizeof settings->error,
                 "%.100s: is on both sides: a run cannot be compared with a sum that it is part of",
                 file);
        return -EINVAL;
      }
  }
  if (fault == NULL) return 0;
  snprintf(settings->error, sizeof settings->error, "%s", fault);
  return -EINVAL;
}

/* Whether --limit is on the command line, not only in the common config file. */
static bool has_limit(int argc, char *const argv[]) {
  for (int i = 1; i < argc; i++)
    if (strncmp(argv[i], "--limit", strlen("--limit")) == 0 || strncmp(argv[i], "-n", 2) == 0)
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

static int parse_sorted(int argc, char **argv, struct report_settings *ret) {
  struct options_result result;
  argc = word_order_sort(&table, argc, argv);
  if (argc < 0) snprintf(ret->error, sizeof ret->error, "%s", strerror(-argc));
  if (argc < 0) return -EINVAL;
  if (options_parse(&table, argc, argv, &ret->options, &result, ret->error, sizeof ret->error) != 0)
    return -EINVAL;
  ret->is_done = result.is_done;
  if (ret->is_done) return 0;
  /* `output =` in the common config file applies to `run`: it is the file that is shown here. */
  if (ret->options.output != NULL && !options_is_on_line(argc, argv, ret->options.output))
    ret->options.output = NULL;
  ret->files = argv + result.first_positional;
  ret->file_count = argc - result.first_positional;
  /* A format in the common config file may be one of `status`. */
  if (strcmp(ret->options.format, "table") == 0 &&
      !options_is_on_line(argc, argv, ret->options.format))
    ret->options.format = formats[REPORT_TOP];
  bool is_default = strcmp(ret->options.format, formats[REPORT_TOP]) == 0 &&
                    !options_is_on_line(argc, argv, ret->options.format);
  if (is_default && is_column(&ret->options)) ret->options.format = formats[REPORT_COUNTS];
  if (find_format(ret) != 0) return -EINVAL;
  /* The largest differences come first.  A script that looks for unchanged functions needs all
     rows. */
  if (ret->format == REPORT_JSON && ret->options.diff.count > 0 && !has_limit(argc, argv))
    ret->options.limit = REPORT_LIMIT_MAX;
  const char *fault = find_format_fault(ret);
  if (fault == NULL)
    fault = diff_choice_find_fault(&ret->options.choice, ret->options.diff.count > 0, argc, argv);
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

int report_settings_parse(int argc, char **argv, struct report_settings *ret) {
  memset(ret, 0, sizeof *ret);
  ret->options.choice.fail_over = -1;
  char **words = calloc((size_t)argc + 1, sizeof *words);
  if (words == NULL) {
    snprintf(ret->error, sizeof ret->error, "%s", strerror(ENOMEM));
    return -EINVAL;
  }
  memcpy(words, argv, (size_t)argc * sizeof *words);
  int error = parse_sorted(argc, argv, ret);
  if (error == 0 && !ret->is_done) error = check_sides(ret, argc, words);
  free(words);
  return error;
}
