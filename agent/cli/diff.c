/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof diff`: the changes between two selections, and whether they exceed a threshold
   (diff_gate.h).  The request asks for all functions, even if the table shows fewer. */
#include "answer_text.h"
#include "api_client.h"
#include "commands.h"
#include "common/json.h"
#include "common/options.h"
#include "complaint.h"
#include "diff_answer.h"
#include "diff_choice.h"
#include "diff_gate.h"
#include "empty_side.h"
#include "field.h"
#include "output_text.h"
#include "report/diff_text.h"
#include "selector_word.h"
#include "terminal_style.h"
#include "word_order.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2, ROWS_MAX = 100000, WHY_BYTES = 512 };

struct diff_options {
  struct api_options api;
  const char *from, *to, *a_from, *a_to, *b_from, *b_to, *type, *format, *output, *scope;
  uint64_t limit;
  struct diff_choice choice;
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
    {"scope", 0, "these|fleet", NULL, "What is compared",
     "verdicts on these boards (their stretches of time are the sampling units) or on boards like "
     "these (boards are); without it these where a selector names boards or a side has fewer than "
     "5",
     OPTION_STRING, OFFSET(scope)},
    DIFF_CHOICE_ROWS(struct diff_options, choice, "", "share"),
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
        "  fleetprof diff version=1.4,service=shop version=1.5,service=shop --fail-over 5%\n"
        "  fleetprof diff shop --b-from -1h\n"
        "  fleetprof diff shop --a-from -8d --a-to -7d --b-from -1d\n"
        "  fleetprof diff version=1.4 version=1.5 --measure cpu --of self --scope these\n"
        "  fleetprof diff version=1.4 version=1.5 --unit request --a-units 2e6 --b-units 1.5e6\n"
        "\nEXIT STATUS\n"
        "  0  compared; with --fail-over, nothing has surely increased by more\n"
        "  1  no answer, or a side without samples (of --format json only with --fail-over);\n"
        "     --fail-over: most of a side is without names and of another build: upload symbols;\n"
        "     or the collector answers without the newest samples (its disk fails, a backlog)\n"
        "  2  what was asked for is wrong\n"
        "  3  --fail-over: all CPU time, or a function, has increased by more (--both: or "
        "decreased)\n",
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

/* A parsed answer. */
struct shown {
  struct view_diff diff;
  struct diff_gate gate; /* with HAS_GATE */
  bool has_gate;
};

static int print_table(const struct diff_command *command, const cJSON *answer,
                       const struct shown *shown, struct buf *ret) {
  const struct diff_options *options = &command->options;
  const struct top_text style = terminal_style(options->limit, options->output);
  struct view_tree a, b;
  const struct diff_sides sides = {
      .a = &a, .b = &b, .a_name = command->a, .b_name = command->b, .is_by_letter = true};
  answer_text_sums(field_find(answer, "a"), &a);
  answer_text_sums(field_find(answer, "b"), &b);
  int error = diff_text_print(&sides, &shown->diff, &style, ret);
  if (error == 0 && shown->has_gate) diff_gate_print(&shown->gate, ret);
  terminal_style_letters(&style, ret);
  return error;
}

/* Reports the sides without samples, and why.  Returns whether both sides have samples. */
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

/* A side may have CPU time from clocks and no samples; then a gate cannot decide. */
static bool has_samples(const cJSON *answer, const char *side) {
  return field_number(field_find(answer, side), "samples") > 0;
}

static void tell_no_samples(const cJSON *answer, const char *side, const char *selector) {
  if (!has_samples(answer, side))
    complaint("diff: --fail-over: %s, %.200s, has CPU time and no samples: nothing to judge by",
              side, selector);
}

/* Reads ANSWER into RET, with the gate if requested.  Returns 0, or 1 after an error message. */
static int read_shown(const struct diff_command *command, const cJSON *answer, bool is_stale,
                      struct shown *ret) {
  const struct diff_choice *choice = &command->options.choice;
  struct shown shown = {.has_gate = choice->fail_over >= 0};
  if (diff_answer_read(answer, &shown.diff) != 0) {
    complaint("diff: out of memory");
    return EXIT_FAILED;
  }
  *ret = shown;
  if (!shown.has_gate) return 0;
  const char *undecided = is_stale ? "stale" : NULL;
  if (!has_samples(answer, "a") || !has_samples(answer, "b")) undecided = "no samples";
  diff_gate_read(&ret->diff, choice->fail_over, choice->is_both, undecided, &ret->gate);
  return 0;
}

/* Reports the gate's failures on stderr.  Returns the exit status. */
static int judge(const struct diff_command *command, const cJSON *answer,
                 const struct shown *shown) {
  static const struct diff_gate_voice voice = {"diff", "upload symbols", "fleetprof upload"};
  if (!shown->has_gate) return 0;
  tell_no_samples(answer, "a", command->a);
  tell_no_samples(answer, "b", command->b);
  diff_gate_report(&shown->gate, &voice);
  return diff_gate_status(&shown->gate);
}

/* Prints ANSWER, an object, with the gate as its first member.  The collector's bytes are copied:
   its sums have 64 bits, and cJSON keeps 53 of them. */
static int print_json(const struct fetch_answer *answer, const struct shown *shown,
                      struct buf *ret) {
  const char *body = (const char *)answer->body.data;
  size_t len = answer->body.len, start = 0;
  while (shown->has_gate && start < len && body[start] != '{') start++;
  if (shown->has_gate) {
    struct json json;
    json_init(&json, ret, SIZE_MAX);
    json_open(&json, '{');
    diff_gate_write(&shown->gate, &json);
    buf_append_byte(ret, ',');
    start++;
  }
  if (start < len) buf_append(ret, body + start, len - start);
  return ret->failed ? -ENOMEM : 0;
}

/* Writes the answer in the requested format.  JSON is ANSWER, parsed.  Returns the exit status. */
static int write_answer(const struct diff_command *command, const struct api *api,
                        const struct fetch_answer *answer, const cJSON *json,
                        const struct shown *shown) {
  const char *output = command->options.output;
  struct buf text = {0};
  bool has_both = (command->is_json && !shown->has_gate) || has_both_sides(command, api, json);
  int error = 0;
  if (!command->is_json && !has_both) return EXIT_FAILED;
  if (command->is_json) {
    error = print_json(answer, shown, &text);
  } else {
    error = print_table(command, json, shown, &text);
  }
  int status = EXIT_FAILED;
  if (error == 0 && !text.failed)
    status = output_text_write("diff", output, &text);
  else
    complaint("diff: out of memory");
  buf_fini(&text);
  return has_both ? status : EXIT_FAILED;
}

static int show_answer(const struct diff_command *command, const struct api *api,
                       const struct fetch_answer *answer, const cJSON *json) {
  bool has_gate = command->options.choice.fail_over >= 0;
  bool is_stale =
      api_tell_stale(api, answer, has_gate ? ": --fail-over passes nothing on that" : "");
  struct shown shown;
  if (read_shown(command, json, is_stale, &shown) != 0) return EXIT_FAILED;
  int status = write_answer(command, api, answer, json, &shown);
  if (status == 0) status = judge(command, json, &shown);
  free(shown.diff.rows);
  return status;
}

static int show(const struct diff_command *command, const struct api *api,
                const struct fetch_answer *answer) {
  const char *http = command->options.api.http;
  int status = EXIT_FAILED;
  cJSON *json = answer_text_parse(answer->body.data, answer->body.len);
  if (json == NULL)
    complaint("diff: %.300s: the answer is not JSON: is this a collector's --http address?", http);
  else if (!cJSON_IsArray(field_find(json, "functions")))
    complaint("diff: %.300s: the answer has no functions: is this a collector's --http address?",
              http);
  else
    status = show_answer(command, api, answer, json);
  cJSON_Delete(json);
  return status;
}

/* ---- the request ---- */

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
  url_add_parameter(ret, "measure", options->choice.measure);
  url_add_parameter(ret, "of", options->choice.of);
  url_add_parameter(ret, "scope", options->scope);
  url_add_parameter(ret, "unit", options->choice.unit);
  url_add_parameter(ret, "a_units", options->choice.a_units);
  url_add_parameter(ret, "b_units", options->choice.b_units);
}

static bool has_two_times(const struct diff_options *options) {
  return options->a_from != NULL || options->a_to != NULL || options->b_from != NULL ||
         options->b_to != NULL;
}

/* Whether WORD is a readable profile file, which `report --diff` compares.  Services have no '/' or
   ".fp". */
static bool is_profile(const char *word) {
  size_t len = strlen(word);
  bool looks_like_one =
      strchr(word, '/') != NULL || (len > 3 && strcmp(word + len - 3, ".fp") == 0);
  return looks_like_one && strchr(word, '=') == NULL && access(word, R_OK) == 0;
}

/* Returns the fault of the positional arguments, or NULL. */
static const char *find_fault(struct diff_command *command, int count, char **words) {
  const struct diff_options *options = &command->options;
  if (count == 0) return "which selections?  fleetprof diff SELECTOR SELECTOR; see --help";
  if (count > 2) return "more than two selectors; labels stand together: service=a,board=b";
  command->a = words[0];
  command->b = words[count - 1];
  if (is_profile(command->a) || is_profile(command->b))
    return "these are files: fleetprof report A.fp --diff B.fp compares those; diff asks the "
           "collector about selections (version=1.4)";
  if (strcmp(command->a, command->b) == 0 && !has_two_times(options))
    return "one selection twice: two selectors, or two times (--b-from)";
  if (options->limit == 0 || options->limit > ROWS_MAX)
    return "--limit: not a number between 1 and 100000";
  if (options->scope != NULL && strcmp(options->scope, "these") != 0 &&
      strcmp(options->scope, "fleet") != 0)
    return "--scope: these or fleet";
  return NULL;
}

/* Returns 0, or EXIT_USAGE after an error message. */
static int read_line(struct diff_command *command, int argc, char **argv) {
  struct options_result result;
  struct diff_options *options = &command->options;
  char error[WHY_BYTES] = "out of memory";
  options->choice.fail_over = -1;
  argc = word_order_sort(&table, argc, argv);
  const char *fault = error;
  if (argc >= 0 && options_parse(&table, argc, argv, options, &result, error, sizeof error) == 0) {
    command->is_done = result.is_done;
    if (result.is_done) return 0;
    fault = find_fault(command, argc - result.first_positional, argv + result.first_positional);
    command->is_json = strcmp(options->format, "json") == 0;
    if (fault == NULL) fault = diff_choice_find_fault(&options->choice, true, argc, argv);
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
