/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a few lines about the daemon, then one row per program (status_programs.c).

   Samples are counted by their current place, so that the line adds up: at the collector, in the
   spool, in the open window, lost.  The counts are of this daemon since its start.  The collector's
   /api/v1/loss is of the board over all time, and as old as the last ping.

   The budget line compares the figures and not only the state: a budget limits an average over
   time, so "1.2 % (budget 0.5 %)" needs an explanation. */
#include "status_print.h"
#include "amount.h"
#include "answer_text.h"
#include "daemon_collector.h"
#include "field.h"
#include "run_url.h"
#include "status_programs.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define MARGIN "            "

static void print_head(const cJSON *status, const char *socket, FILE *out) {
  char uptime[AMOUNT_BYTES];
  const cJSON *perf = field_find(status, "perf");
  const char *why = field_text(perf, "why"), *kill_switch = field_text(status, "kill_switch");
  fprintf(out, "daemon %.0f, version %s, up %s\n", field_number(status, "pid"),
          field_text(status, "version"), amount_time(field_number(status, "uptime_s"), uptime));
  fprintf(out, "  state     %s (socket %s)\n", field_text(status, "state"), socket);
  if (kill_switch[0] != '\0')
    fprintf(out, "  disabled  by %s: nothing is sampled while it is there\n", kill_switch);
  fprintf(out, "  perf      %s%s%s\n",
          field_is_true(perf, "available") ? "available" : "not available", why[0] ? ": " : "",
          why);
}

/* Prints the offset between this board's clock and the collector's, if there is one: times are
   shown by the collector's clock. */
static void print_clock(const cJSON *status, FILE *out) {
  char apart[AMOUNT_BYTES];
  double offset_s = (double)daemon_clock_offset_ns(status) / 1e9;
  if (offset_s == 0) return;
  fprintf(out, MARGIN "this board's clock is %s %s the collector's, by which samples are placed\n",
          amount_time(fabs(offset_s), apart), offset_s > 0 ? "behind" : "ahead of");
}

static void print_uplink(const cJSON *status, FILE *out) {
  char sent[AMOUNT_BYTES], retry[AMOUNT_BYTES];
  const cJSON *uplink = field_find(status, "uplink");
  const char *collector = field_text(status, "collector"), *page = field_text(uplink, "page_url");
  const char *why = field_text(uplink, "why");
  double retry_ms = field_number(uplink, "retry_in_ms");
  fprintf(out, "  uplink    %s: %s%s%s", collector[0] ? collector : "no collector",
          field_text(uplink, "state"), why[0] ? ": " : "", why);
  if (!field_is_true(uplink, "connected") && retry_ms > 0)
    fprintf(out, "; next try in %s", amount_time(retry_ms / 1000, retry));
  fputs("\n" MARGIN, out);
  amount_print_count(field_number(uplink, "acked_batches"), "batch", out);
  const char *what = run_url_has_page(page) ? "; the page: " : "; it has no page, its API: ";
  fprintf(out, " stored by the collector, %s sent%s%s\n",
          amount_bytes(field_number(uplink, "sent_bytes"), sent), page[0] ? what : "", page);
  print_clock(status, out);
}

/* Prints faults of spool files, if there were any. */
static void print_mishaps(const cJSON *spool, FILE *out) {
  static const struct {
    const char *name, *noun, *more;
  } mishaps[] = {{"corrupt_segments", "corrupt file", ""},
                 {"torn_tails", "torn tail", " cut off"},
                 {"failed_syncs", "sync", " failed"},
                 {"quarantined", "batch", " refused for good and kept in quarantine"}};
  for (size_t i = 0; i < sizeof mishaps / sizeof *mishaps; i++) {
    double count = field_number(spool, mishaps[i].name);
    if (count <= 0) continue;
    fputs("; ", out);
    amount_print_count(count, mishaps[i].noun, out);
    fputs(mishaps[i].more, out);
  }
}

/* Older daemons do not report it. */
static void print_wear(const cJSON *spool, FILE *out) {
  char bytes[AMOUNT_BYTES];
  if (field_find(spool, "day_bytes") == NULL) return;
  fprintf(out, MARGIN "written in the last 24 hours: %s",
          amount_bytes(field_number(spool, "day_bytes"), bytes));
  fputs(" in ", out);
  amount_print_count(field_number(spool, "day_syncs"), "sync", out);
  fputc('\n', out);
}

static void print_spool(const cJSON *status, FILE *out) {
  char bytes[AMOUNT_BYTES], room[AMOUNT_BYTES];
  const cJSON *spool = field_find(status, "spool"), *loss = field_find(status, "loss");
  const char *error = field_text(spool, "error");
  double records = field_number(spool, "records"), memory = field_number(spool, "memory_entries");
  double earlier = records - field_number(loss, "spooled");
  fputs("  spool     ", out);
  amount_print_count(field_number(spool, "entries"), "batch", out);
  fputs(" waiting, ", out);
  amount_print_count(records, "sample", out);
  if (field_find(loss, "spooled") != NULL && earlier > 0)
    fprintf(out, " (%.0f of earlier daemons)", earlier);
  fprintf(out, ", %s of %s", amount_bytes(field_number(spool, "bytes"), bytes),
          amount_bytes(field_number(spool, "bytes_max"), room));
  if (memory > 0) fprintf(out, "; the disk takes nothing, %.0f of them are in memory", memory);
  print_mishaps(spool, out);
  fprintf(out, "%s%s\n", error[0] ? "; last error: " : "", error);
  print_wear(spool, out);
}

/* Prints where the samples are; an older daemon reports only the sum of the first two. */
static void print_places(const cJSON *loss, FILE *out) {
  if (field_find(loss, "acked") == NULL)
    fprintf(out, "%.0f in batches", field_number(loss, "shipped"));
  else
    fprintf(out, "%.0f stored by the collector, %.0f in the spool", field_number(loss, "acked"),
            field_number(loss, "spooled"));
  fprintf(out, ", %.0f in the open window", field_number(loss, "open"));
}

static void print_loss(const cJSON *status, FILE *out) {
  const cJSON *loss = field_find(status, "loss"), *item;
  double total = 0, threads = field_number(loss, "threads_unsampled");
  fprintf(out, "  samples   %.0f since this daemon's start: ", field_number(loss, "produced"));
  print_places(loss, out);
  cJSON_ArrayForEach(item, field_find(loss, "dropped")) {
    if (!cJSON_IsNumber(item) || item->valuedouble <= 0) continue;
    fprintf(out, "%s%s %.0f", total > 0 ? ", " : "; lost: ", item->string, item->valuedouble);
    total += item->valuedouble;
  }
  fputs(total > 0 ? "\n" : ", none lost\n", out);
  if (threads > 0) {
    fputs(MARGIN, out);
    amount_print_count(threads, "thread", out);
    fputs(" could not be sampled\n", out);
  }
  const char *before = MARGIN "threads not sampled now: ";
  cJSON_ArrayForEach(item, field_find(loss, "unsampled")) {
    fprintf(out, "%s%.0f %s", before, item->valuedouble, item->string);
    before = ", ";
  }
  if (before[0] == ',') fputc('\n', out);
}

struct refused {
  double count;
  const char *what, *why;
};

/* Continues the line after BEFORE, its prefix or a separator.  Returns the next separator. */
static const char *add_refused(const char *before, const struct refused *refused, FILE *out) {
  if (refused->count <= 0) return before;
  fputs(before, out);
  amount_print_count(refused->count, refused->what, out);
  fprintf(out, ": %s", refused->why);
  return "; ";
}

/* Prints the programs that run unsampled because the daemon rejected them. */
static void print_refused(const cJSON *status, FILE *out) {
  const cJSON *item, *intake = field_find(status, "intake");
  const char *before = "  refused   ";
  cJSON_ArrayForEach(item, field_find(intake, "refused_programs")) {
    struct refused one = {item->valuedouble, "program", item->string};
    before = add_refused(before, &one, out);
  }
  struct refused away = {field_number(intake, "turned_away"), "program", "the daemon was busy"};
  struct refused deferred = {field_number(intake, "deferred"), "request",
                             "what their user's programs ask takes too much of the daemon's time"};
  before = add_refused(before, &away, out);
  before = add_refused(before, &deferred, out);
  if (before[0] == ';') fputc('\n', out);
}

/* Prints defects of unwind tables: modules without a table, and gaps in other tables. */
static void print_tables(const cJSON *status, FILE *out) {
  const cJSON *tables = field_find(status, "tables");
  const char *path = field_text(tables, "path"), *of = field_text(tables, "functions_path");
  double none = field_number(tables, "refused") + field_number(tables, "failed") +
                field_number(tables, "unreadable");
  const struct {
    double count;
    const char *what, *why, *path, *reason;
  } lacks[] = {{none, "module", " without one", path, field_text(tables, "why")},
               {field_number(tables, "functions_refused"), "function", " refused", of,
                field_text(tables, "functions_why")},
               {field_number(tables, "functions_left"), "function", " told of twice", "", ""},
               {field_number(tables, "untold_rows"), "place", " that no rule can tell of", "", ""}};
  const char *before = "  tables    ";
  for (unsigned i = 0; i < sizeof lacks / sizeof *lacks; i++) {
    if (lacks[i].count <= 0) continue;
    fputs(before, out);
    amount_print_count(lacks[i].count, lacks[i].what, out);
    fputs(lacks[i].why, out);
    if (lacks[i].path[0] != '\0')
      fprintf(out, " (the last in %s: %s)", lacks[i].path, lacks[i].reason);
    before = "; ";
  }
  if (before[0] == ';') fputc('\n', out);
}

/* Returns the text for the budget's state; the actual cost takes precedence over the state. */
static const char *explain_budget(const cJSON *cost, const cJSON *budget) {
  static const char *const states[][2] = {
      {"off", "no budget"},
      {"within", "within the budget"},
      {"window", "within the budget; windows are longer, to hold that of bytes"},
      {"cpu", "rates are lowered to hold --budget-cpu"},
      {"bytes", "rates are lowered to hold --budget-bytes"},
      {"daemon",
       "over the budget: the daemon alone takes all of --budget-cpu; samples get a tenth of "
       "it beside that"},
      {"floor", "over the budget at the lowest rate"},
      {"threads", "rates are lowered; threads from before go on at the old one"},
      {"unheld", "over the budget: the default one does not hold rates that were asked for (--hz, "
                 "ctl rate), --budget-cpu and --budget-bytes do"}};
  const char *state = field_text(budget, "state");
  double cpu = field_number(budget, "cpu_percent"), bytes = field_number(budget, "bytes_day");
  bool is_over = (cpu > 0 && field_number(cost, "added_cpu_percent") > cpu) ||
                 (bytes > 0 && field_number(cost, "bytes_day") > bytes);
  if (is_over && (strcmp(state, "within") == 0 || strcmp(state, "window") == 0))
    return "over the budget for a while: what was not spent before pays for it";
  for (unsigned i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(states[i][0], state) == 0) return states[i][1];
  return state;
}

static void print_bytes(const cJSON *cost, const cJSON *budget, FILE *out) {
  char spent[AMOUNT_BYTES], limit[AMOUNT_BYTES];
  double most = field_number(budget, "bytes_day");
  fprintf(out, MARGIN "batches %s in 24 h (budget %s)",
          amount_bytes(field_number(cost, "bytes_day"), spent),
          most > 0 ? amount_bytes(most, limit) : "none");
  fprintf(out, ", debug files %s today", amount_bytes(field_number(budget, "debug_used"), spent));
  fprintf(out, " (budget %s)\n", amount_bytes(field_number(budget, "debug_bytes_day"), limit));
}

static void print_cost(const cJSON *status, FILE *out) {
  const cJSON *cost = field_find(status, "cost"), *budget = field_find(status, "budget");
  if (cost == NULL) return; /* a daemon of an older version */
  double cpu = field_number(budget, "cpu_percent");
  fprintf(out, "  cost      of one CPU: daemon %.2g %%, with samples %.2g %%",
          field_number(cost, "daemon_cpu_percent"), field_number(cost, "added_cpu_percent"));
  if (cpu > 0)
    fprintf(out, " (budget %.4g %%)\n", cpu);
  else
    fputs(" (budget none)\n", out);
  print_bytes(cost, budget, out);
  fprintf(out, MARGIN "%s\n", explain_budget(cost, budget));
  fprintf(out, MARGIN "a sample, measured at the start: %.0f ns by perf, %.0f ns by signal",
          field_number(cost, "perf_sample_ns"), field_number(cost, "signal_ns"));
  if (field_number(cost, "handler_runs") > 0)
    fprintf(
        out,
        " and %.0f ns of handler (calibrated as its program began; with nothing in the cache %.0f)",
        field_number(cost, "handler_ns_p50"), field_number(cost, "handler_ns_p99"));
  fputc('\n', out);
}

int status_print_text(const char *json, const char *socket, FILE *out) {
  cJSON *status = answer_text_parse(json, strlen(json));
  if (!cJSON_IsObject(status)) {
    cJSON_Delete(status);
    return -EBADMSG;
  }
  print_head(status, socket, out);
  print_uplink(status, out);
  print_spool(status, out);
  print_loss(status, out);
  print_refused(status, out);
  print_tables(status, out);
  print_cost(status, out);
  status_programs_print(status, out);
  cJSON_Delete(status);
  return 0;
}
