/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof diff`: what changed between two selections, and whether that is too much
   (diff_gate.h). All functions are asked for, whatever the table shows of them. */
#include "answer_text.h"
#include "api_client.h"
#include "commands.h"
#include "common/options.h"
#include "complaint.h"
#include "diff_gate.h"
#include "empty_side.h"
#include "field.h"
#include "output_text.h"
#include "report/diff_text.h"
#include "selector_word.h"
#include "terminal_style.h"
#include "verdict_word.h"
#include "word_order.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, ROWS_MAX = 100000, WHY_BYTES = 512 };

struct diff_options {
  struct api_options api;
  const char *from, *to, *a_from, *a_to, *b_from, *b_to, *type, *format, *output;
  uint64_t limit;
  double fail_over; /* percent points; less than 0: not given */
};

#define OFFSET(field) offsetof(struct diff_options, field)
#define SIDES "Of which samples"
#define SHOWN "How it is shown"

static const struct option rows[] = {
    {"from", 0, "TIME", "-1h", SIDES, "of both: RFC 3339, Unix seconds, now, or a time ago: -7d",
     OPTION_STRING, OFFSET(from)},
    {"to", 0, "TIME", "now", SIDES, "of both", OPTION_STRING, OFFSET(to)},
    {"a-from", 0, "TIME", NULL, SIDES, "of the first alone", OPTION_STRING, OFFSET(a_from)},
    {"a-to", 0, "TIME", NULL, SIDES, "of the first alone", OPTION_STRING, OFFSET(a_to)},
    {"b-from", 0, "TIME", NULL, SIDES,
     "of the second alone; a first of the same selector is then what was before, as long",
     OPTION_STRING, OFFSET(b_from)},
    {"b-to", 0, "TIME", NULL, SIDES, "of the second alone", OPTION_STRING, OFFSET(b_to)},
    {"type", 0, "TYPE", "cpu", SIDES, "what was sampled", OPTION_STRING, OFFSET(type)},
    DIFF_GATE_ROW(struct diff_options, fail_over, ""),
    {"format", 'f', "top|json", "top", SHOWN, "top (a table) or json (what the collector answers)",
     OPTION_STRING, OFFSET(format)},
    {"limit", 'n', "N", "30", SHOWN, "rows of the table", OPTION_COUNT, OFFSET(limit)},
    {"output", 'o', "FILE", NULL, SHOWN, "write it there and not to stdout", OPTION_PATH,
     OFFSET(output)},
    API_OPTION_ROWS(struct diff_options, api),
};

static const struct option_table table = {
    .usage = "fleetprof diff [OPTION]... SELECTOR [SELECTOR]",
    .summary = "Compares two selections of the collector's samples, function by function; one\n"
               "selector alone with itself at another time.",
    .epilogue =
        "EXAMPLES\n"
        "  fleetprof diff version=1.4,service=shop version=1.5,service=shop --fail-over 2%\n"
        "  fleetprof diff shop --b-from -1h\n"
        "  fleetprof diff shop --a-from -8d --a-to -7d --b-from -1d\n"
        "\nEXIT STATUS\n"
        "  0  compared; with --fail-over, no function has surely changed by more\n"
        "  1  no answer, or a side without samples (of --format json only with --fail-over);\n"
        "     --fail-over: most of a side is without names and of another build: upload symbols;\n"
        "     or the collector answers without the newest samples (its disk fails, a backlog)\n"
        "  2  what was asked for is wrong\n"
        "  3  --fail-over: a function has changed by more\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

struct diff_command {
  struct diff_options options;
  const char *a, *b;
  bool is_json, is_done;
};

/* ---- the table ---- */

static struct view_basis basis_of(const cJSON *answer, const char *unit, const char *units) {
  const cJSON *basis = field_find(answer, "basis");
  double count = fmin(field_number(basis, units), ROWS_MAX);
  return (struct view_basis){field_text(basis, unit), (unsigned)answer_text_whole(count)};
}

static struct view_diff_row row_of(const cJSON *row) {
  const cJSON *ci = field_find(row, "ci");
  const cJSON *low = cJSON_GetArrayItem(ci, 0), *high = cJSON_GetArrayItem(ci, 1);
  return (struct view_diff_row){.name = field_text(row, "name"),
                                .module = field_text(row, "module"),
                                .file = field_text(row, "file"),
                                .a = field_number(row, "a"),
                                .b = field_number(row, "b"),
                                .difference = field_number(row, "difference"),
                                .low = cJSON_IsNumber(low) ? low->valuedouble : -1,
                                .high = cJSON_IsNumber(high) ? high->valuedouble : 1,
                                .p = field_number(row, "p"),
                                .verdict = verdict_word_of(row),
                                .doubt = verdict_word_doubt(row)};
}

static int print_table(const struct diff_command *command, const cJSON *answer, struct buf *ret) {
  const cJSON *functions = field_find(answer, "functions"), *at;
  const struct diff_options *options = &command->options;
  const struct top_text style = terminal_style(options->limit, options->output);
  struct view_tree a, b;
  struct view_diff_row *list = calloc((size_t)cJSON_GetArraySize(functions) + 1, sizeof *list);
  struct diff_table sums = {
      .sides = {.a = &a, .b = &b, .a_name = command->a, .b_name = command->b},
      .basis = {.a = basis_of(answer, "a_unit", "a_units"),
                .b = basis_of(answer, "b_unit", "b_units"),
                .pairs = (unsigned)answer_text_whole(
                    fmin(field_number(field_find(answer, "basis"), "pairs"), ROWS_MAX))},
      .rows = list,
      .tested = (uint32_t)answer_text_whole(fmin(field_number(answer, "tested"), ROWS_MAX))};
  if (list == NULL) return -1;
  answer_text_sums(field_find(answer, "a"), &a);
  answer_text_sums(field_find(answer, "b"), &b);
  cJSON_ArrayForEach(at, functions) list[sums.count++] = row_of(at);
  int error = diff_text_print_table(&sums, &style, ret);
  terminal_style_letters(&style, ret);
  free(list);
  return error;
}

/* Says which sides have no samples, and why.  Returns whether both have some. */
static bool has_both_sides(const struct diff_command *command, const struct api *api,
                           const cJSON *answer) {
  const struct empty_side sides[] = {{"a", command->a, field_find(answer, "a")},
                                     {"b", command->b, field_find(answer, "b")}};
  bool has_both = true;
  for (unsigned i = 0; i < 2; i++) {
    if (field_number(sides[i].range, "total") > 0) continue;
    empty_side_tell(api, &sides[i]);
    has_both = false;
  }
  return has_both;
}

/* Of a side that clocks alone told nothing can be said, and a gate that passes on nothing is none.
 */
static bool has_samples(const cJSON *answer, const char *side, const char *selector) {
  if (field_number(field_find(answer, side), "samples") > 0) return true;
  complaint("diff: --fail-over: %s, %.200s, has CPU time and no samples: nothing to judge by", side,
            selector);
  return false;
}

/* Says on stderr what stops the release.  Returns the exit status. */
static int judge(const struct diff_command *command, const cJSON *answer) {
  static const struct diff_gate_voice voice = {"diff", "upload symbols", "fleetprof upload"};
  struct diff_gate gate;
  double threshold = command->options.fail_over;
  if (!(threshold >= 0)) return 0;
  bool has_a = has_samples(answer, "a", command->a), has_b = has_samples(answer, "b", command->b);
  if (!has_a || !has_b) return EXIT_FAILED;
  diff_gate_read(answer, threshold, &gate);
  diff_gate_tell(&gate, threshold, &voice);
  return diff_gate_status(&gate);
}

/* Writes what was asked for of the answer JSON, ANSWER as text.  Returns the exit status. */
static int write_answer(const struct diff_command *command, const struct api *api,
                        const struct fetch_answer *answer, const cJSON *json) {
  const char *output = command->options.output;
  bool has_gate = command->options.fail_over >= 0;
  struct buf text = {0};
  int status = EXIT_FAILED;
  if (command->is_json) {
    status = output_text_write("diff", output, &answer->body);
    return status == 0 && has_gate && !has_both_sides(command, api, json) ? EXIT_FAILED : status;
  }
  if (!has_both_sides(command, api, json)) return EXIT_FAILED;
  if (print_table(command, json, &text) == 0)
    status = output_text_write("diff", output, &text);
  else
    complaint("diff: out of memory");
  buf_fini(&text);
  return status;
}

static int show(const struct diff_command *command, const struct api *api,
                const struct fetch_answer *answer) {
  const struct diff_options *options = &command->options;
  int status = EXIT_FAILED;
  cJSON *json = answer_text_parse(answer->body.data, answer->body.len);
  if (json == NULL)
    complaint("diff: %.300s: the answer is not JSON: is this a collector's --http address?",
              options->api.http);
  else if (!cJSON_IsArray(field_find(json, "functions")))
    complaint(
        "diff: %.300s: the answer tells of no functions: is this a collector's --http address?",
        options->api.http);
  else
    status = write_answer(command, api, answer, json);
  bool has_gate = options->fail_over >= 0;
  bool is_stale =
      api_tell_stale(api, answer, has_gate ? ": --fail-over passes nothing on that" : "");
  if (status == 0) status = is_stale && has_gate ? EXIT_FAILED : judge(command, json);
  cJSON_Delete(json);
  return status;
}

/* ---- the question ---- */

static void add_selector(struct buf *target, const char *name, const char *word) {
  struct buf selector = {0};
  selector_word_print(word, &selector);
  url_add_parameter(target, name, buf_text(&selector));
  buf_fini(&selector);
}

static void print_target(const struct diff_command *command, struct buf *ret) {
  const struct diff_options *options = &command->options;
  char limit[16];
  snprintf(limit, sizeof limit, "%d", ROWS_MAX);
  buf_append_string(ret, "/api/v1/diff");
  add_selector(ret, "a", command->a);
  add_selector(ret, "b", command->b);
  url_add_parameter(ret, "from", options->from);
  url_add_parameter(ret, "to", options->to);
  url_add_parameter(ret, "a_from", options->a_from);
  url_add_parameter(ret, "a_to", options->a_to);
  url_add_parameter(ret, "b_from", options->b_from);
  url_add_parameter(ret, "b_to", options->b_to);
  url_add_parameter(ret, "type", options->type);
  url_add_parameter(ret, "limit", limit);
}

static bool has_two_times(const struct diff_options *options) {
  return options->a_from != NULL || options->a_to != NULL || options->b_from != NULL ||
         options->b_to != NULL;
}

/* Returns what is wrong with the words of the line, or NULL. */
static const char *find_fault(struct diff_command *command, int count, char **words) {
  const struct diff_options *options = &command->options;
  if (count == 0) return "which selections?  fleetprof diff SELECTOR SELECTOR; see --help";
  if (count > 2) return "more than two selectors; labels stand together: service=a,board=b";
  command->a = words[0];
  command->b = words[count - 1];
  if (strcmp(command->a, command->b) == 0 && !has_two_times(options))
    return "one selection twice: two selectors, or two times (--b-from)";
  if (options->limit == 0 || options->limit > ROWS_MAX)
    return "--limit: not a number between 1 and 100000";
  return NULL;
}

/* Returns 0, or EXIT_USAGE after a complaint. */
static int read_line(struct diff_command *command, int argc, char **argv) {
  struct options_result result;
  struct diff_options *options = &command->options;
  char error[WHY_BYTES] = "out of memory";
  options->fail_over = -1;
  argc = word_order_sort(&table, argc, argv);
  const char *fault = error;
  if (argc >= 0 && options_parse(&table, argc, argv, options, &result, error, sizeof error) == 0) {
    command->is_done = result.is_done;
    if (result.is_done) return 0;
    fault = find_fault(command, argc - result.first_positional, argv + result.first_positional);
    command->is_json = strcmp(options->format, "json") == 0;
    if (fault == NULL && !command->is_json && strcmp(options->format, "top") != 0 &&
        options_is_on_line(argc, argv, options->format))
      fault = "--format: top or json";
  }
  if (fault != NULL) complaint("diff: %s", fault);
  return fault != NULL ? EXIT_USAGE : 0;
}

int diff_main(int argc, char **argv) {
  struct diff_command command = {.is_done = false};
  struct buf target = {0};
  struct api api;
  int status = read_line(&command, argc, argv);
  if (status != 0 || command.is_done) return status;
  status = api_open("diff", &command.options.api, &api);
  if (status != 0) return status;
  print_target(&command, &target);
  struct fetch_answer answer;
  const struct fetch_call call = {.method = "GET", .target = buf_text(&target)};
  status = api_call(&api, &call, &answer);
  if (status == 0) {
    status = show(&command, &api, &answer);
    fetch_answer_fini(&answer);
  }
  api_close(&api);
  buf_fini(&target);
  return status;
}
