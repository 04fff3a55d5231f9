/* SPDX-License-Identifier: Apache-2.0 */
/* An option that belongs to one route selects that route; options of two routes are an error.  A
   format of the function table is also accepted for other tables (load, callers), where users would
   use it.

   A link gives the collector, the selection and the view.  The command line overrides the link; the
   link overrides a file or the environment. */
#include "query_settings.h"

#include "commands.h"
#include "common/options.h"
#include "report/flame_text.h"
#include "selector_word.h"
#include "word_order.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MAX = 100000 };

#define OFFSET(field) offsetof(struct query_options, field)
#define WHAT "What is asked"
#define WHICH "Of which samples"
#define SHOWN "How it is shown"

static const struct option rows[] = {
    {"from", 0, "TIME", "-1h", WHICH, "RFC 3339, Unix seconds, now, or a time ago: -90s, -1h, -7d",
     OPTION_STRING, OFFSET(from)},
    {"to", 0, "TIME", "now", WHICH, "the same", OPTION_STRING, OFFSET(to)},
    {"type", 0, "TYPE", "cpu", WHICH, "what was sampled", OPTION_STRING, OFFSET(type)},
    {"by", 0, "LABEL", NULL, WHAT,
     "load by function, module, thread, service, board, or any other label", OPTION_STRING,
     OFFSET(by)},
    {"step", 0, "SECONDS", NULL, WHAT, "load over time, in steps of so many (with --by or without)",
     OPTION_STRING, OFFSET(step)},
    {"callers", 0, "FUNCTION", NULL, WHAT, "who calls it", OPTION_STRING, OFFSET(callers)},
    {"callees", 0, "FUNCTION", NULL, WHAT, "whom it calls", OPTION_STRING, OFFSET(callees)},
    {"function", 0, "FUNCTION", NULL, WHAT,
     "it from inside: by line, offset, build, board and thread", OPTION_STRING, OFFSET(function)},
    {"module", 0, "NAME", NULL, WHAT, "the module of that function, where several have one",
     OPTION_STRING, OFFSET(module)},
    {"format", 'f', "top|flame|json|tree|folded|pprof|speedscope|callgrind|perf-script", "top",
     SHOWN,
     "top (a table; names are cut to the width of a terminal, and whole in a pipe or a file), "
     "flame (a flame graph of text), json (what the collector answers), tree (call "
     "tree, JSON), folded (for flame graphs elsewhere), pprof, speedscope, callgrind or "
     "perf-script (files for those tools)",
     OPTION_STRING, OFFSET(format)},
    {"limit", 'n', "N", "100", SHOWN, "rows at most; top, flame and json alone", OPTION_COUNT,
     OFFSET(limit)},
    {"depth", 0, "N", "16", SHOWN, "how deep calls are shown: flame alone", OPTION_COUNT,
     OFFSET(depth)},
    {"output", 'o', "FILE", NULL, SHOWN, "write it there and not to stdout", OPTION_PATH,
     OFFSET(output)},
    API_OPTION_ROWS(struct query_options, api),
};

static const struct option_table table = {
    .usage = "fleetprof query [OPTION]... [SELECTOR|LINK]",
    .summary = "Asks the collector where the time went: the HTTP API from a shell.\n"
               "SELECTOR is {service=\"redis-server\",board=~\"edge-.*\"}; shorter:\n"
               "service=redis-server,board=~edge-.* or, for a service, redis-server; none: all.\n"
               "LINK is one of the collector's page, of a profile or a function, in quotes, as\n"
               "`fleetprof run` gives one: it says which collector, which samples and when.\n"
               "A token goes to a link's collector where that is the one of --http, or where\n"
               "--token-file is given with it.",
    .epilogue = "EXAMPLES\n"
                "  fleetprof query redis-server\n"
                "  fleetprof query redis-server --format flame\n"
                "  fleetprof query redis-server --from -1d --by board\n"
                "  fleetprof query redis-server --function dictFind\n"
                "  fleetprof query --step 60 --by service --from -3h\n"
                "  fleetprof query board=edge-7 --format speedscope -o edge-7.json\n"
                "  fleetprof query --http https://collector.example:7480 --ca root.pem\n"
                "  fleetprof query -f flame \"$LINK\"\n"
                "\nEXIT STATUS\n"
                "  0  answered, also when nothing was sampled there at that time\n"
                "  1  no answer, the collector refuses the question, or (as top or flame) what is\n"
                "     asked for never had samples\n"
                "  2  what was asked for is wrong\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

static const char *const formats[] = {"top",   "json",       "flame",     "tree",       "folded",
                                      "pprof", "speedscope", "callgrind", "perf-script"};

static int fail(struct query_settings *settings, const char *why) {
  snprintf(settings->error, sizeof settings->error, "%s", why);
  return -EINVAL;
}

static int find_view(struct query_settings *settings) {
  const struct query_options *options = &settings->options;
  const struct {
    const char *given;
    enum query_view view;
  } ways[] = {{options->callers, QUERY_CALLERS},
              {options->callees, QUERY_CALLEES},
              {options->function, QUERY_FUNCTION},
              {options->step, QUERY_SERIES}};
  unsigned count = 0;
  settings->view = options->by != NULL ? QUERY_LOAD : QUERY_PROFILE;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (ways[i].given == NULL) continue;
    settings->view = ways[i].view;
    count++;
  }
  if (count > 1 ||
      (options->by != NULL && settings->view != QUERY_LOAD && settings->view != QUERY_SERIES))
    return fail(settings, "--by, --step, --callers, --callees and --function: give one of them "
                          "(--by and --step go together)");
  return 0;
}

static int find_format(struct query_settings *settings, bool is_on_line) {
  size_t at = 0, count = sizeof formats / sizeof *formats;
  struct query_options *options = &settings->options;
  while (at < count && strcmp(options->format, formats[at]) != 0) at++;
  if (at == count && !is_on_line) at = 0; /* from the config file: another command's */
  if (at == count) {
    int len = snprintf(settings->error, sizeof settings->error,
                       "--format: there is no '%.100s'; one of:", options->format);
    for (size_t i = 0; i < count; i++)
      len +=
          snprintf(settings->error + len, sizeof settings->error - (size_t)len, " %s", formats[i]);
    return -EINVAL;
  }
  options->format = formats[at];
  settings->is_flame = strcmp(options->format, "flame") == 0;
  settings->is_table = at == 0 || settings->is_flame;
  if (at > 1 && settings->view != QUERY_PROFILE)
    return fail(settings, "--format: this is shown as top or json");
  if (strcmp(options->format, "pprof") == 0 && options->output == NULL &&
      isatty(STDOUT_FILENO) == 1)
    return fail(settings, "--format pprof: is binary; send it to a file (--output FILE.pb.gz)");
  return 0;
}

/* Takes the link's view, unless the command line selects a view. */
static int take_question(struct query_settings *settings) {
  const struct page_link *link = &settings->link;
  const char *view = link->view != NULL ? link->view : "";
  if (settings->view != QUERY_PROFILE || *view == '\0' || strcmp(view, "profile") == 0) return 0;
  if (strcmp(view, "function") != 0 || link->function == NULL) {
    snprintf(settings->error, sizeof settings->error,
             "%.100s: a link to this is nothing that is shown here; one to a profile or a function "
             "is",
             view);
    return -EINVAL;
  }
  settings->options.function = link->function;
  settings->options.module = link->module;
  settings->view = QUERY_FUNCTION;
  return 0;
}

static bool is_one_server(const char *a, const char *b) {
  struct url first, second;
  char why[FETCH_WHY_BYTES];
  return url_parse(a, &first, why, sizeof why) == 0 &&
         url_parse(b, &second, why, sizeof why) == 0 && first.is_https == second.is_https &&
         strcmp(first.at.port, second.at.port) == 0 && strcmp(first.at.host, second.at.host) == 0;
}

/* A link is untrusted: a configured token is not sent to another collector.  A token on the command
   line is meant for the link's collector. */
static void distrust(struct query_settings *settings, int argc, char *const *argv) {
  struct api_options *api = &settings->options.api;
  bool is_ours =
      options_is_on_line(argc, argv, api->http) || is_one_server(api->http, settings->link.http);
  api->is_tokenless = !is_ours && !options_is_on_line(argc, argv, api->token_file);
}

/* The selector is a link: it provides the settings that are not on the command line. */
static int take_link(struct query_settings *settings, int argc, char *const *argv) {
  struct query_options *options = &settings->options;
  struct page_link *link = &settings->link;
  if (page_link_read(settings->selector, link, settings->error, sizeof settings->error) != 0)
    return -EINVAL;
  distrust(settings, argc, argv);
  const struct {
    const char **option, *linked;
  } taken[] = {{&options->api.http, link->http},
               {&options->from, link->from},
               {&options->to, link->to},
               {&options->type, link->type}};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
    if (taken[i].linked != NULL && !options_is_on_line(argc, argv, *taken[i].option))
      *taken[i].option = taken[i].linked;
  settings->selector = link->match;
  return take_question(settings);
}

int query_settings_parse(int argc, char **argv, struct query_settings *ret) {
  struct options_result result;
  *ret = (struct query_settings){.is_done = false};
  argc = word_order_sort(&table, argc, argv);
  if (argc < 0) return fail(ret, strerror(-argc));
  if (options_parse(&table, argc, argv, &ret->options, &result, ret->error, sizeof ret->error) != 0)
    return -EINVAL;
  ret->is_done = result.is_done;
  if (ret->is_done) return 0;
  if (result.first_positional + 1 < argc)
    return fail(ret, "more than one selector; labels stand together: service=a,board=b");
  if (result.first_positional < argc) ret->selector = argv[result.first_positional];
  if (ret->options.limit == 0 || ret->options.limit > LIMIT_MAX)
    return fail(ret, "--limit: not a number between 1 and 100000");
  if (ret->options.depth == 0 || ret->options.depth > FLAME_TEXT_DEPTH_MAX)
    return fail(ret, "--depth: not a number between 1 and 200");
  int error = find_view(ret);
  if (error == 0 && ret->selector != NULL && page_link_is(ret->selector))
    error = take_link(ret, argc, argv);
  return error != 0 ? error : find_format(ret, options_is_on_line(argc, argv, ret->options.format));
}

void query_settings_print_target(const struct query_settings *settings, struct buf *ret) {
  static const char *const routes[] = {
      [QUERY_PROFILE] = "/api/v1/profile",   [QUERY_LOAD] = "/api/v1/load",
      [QUERY_CALLERS] = "/api/v1/callers",   [QUERY_CALLEES] = "/api/v1/callees",
      [QUERY_FUNCTION] = "/api/v1/function", [QUERY_SERIES] = "/api/v1/series",
  };
  const struct query_options *options = &settings->options;
  struct buf match = {0};
  char limit[24];
  bool is_whole = settings->view == QUERY_PROFILE && !settings->is_table &&
                  strcmp(options->format, "json") != 0; /* files for tools have no limit */
  snprintf(limit, sizeof limit, "%" PRIu64,
           settings->is_flame ? QUERY_FLAME_NODES : options->limit);
  if (settings->selector != NULL) selector_word_print(settings->selector, &match);
  buf_append_string(ret, routes[settings->view]);
  url_add_parameter(ret, "match", settings->selector != NULL ? buf_text(&match) : NULL);
  url_add_parameter(ret, "from", options->from);
  url_add_parameter(ret, "to", options->to);
  url_add_parameter(ret, "type", options->type);
  url_add_parameter(ret, "limit", is_whole ? NULL : limit);
  url_add_parameter(ret, "by", options->by);
  url_add_parameter(ret, "step", options->step);
  url_add_parameter(ret, "function", options->callers);
  url_add_parameter(ret, "function", options->callees);
  url_add_parameter(ret, "function", options->function);
  if (settings->view == QUERY_PROFILE)
    url_add_parameter(ret, "format", settings->is_flame ? "tree" : options->format);
  else if (settings->view != QUERY_LOAD && settings->view != QUERY_SERIES)
    url_add_parameter(ret, "module", options->module);
  buf_fini(&match);
}
