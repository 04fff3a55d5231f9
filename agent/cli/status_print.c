/* SPDX-License-Identifier: Apache-2.0 */
/* A few lines on the daemon, then one row a program.  What a daemon of another version does not say
   is left out or shown as nothing; no field is needed for the rest to be printed.

   Times and amounts are rounded for reading; --format json has them as they are. */
#include "status_print.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { AMOUNT_BYTES = 32 };

static const cJSON *field(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

static double number(const cJSON *object, const char *name) {
  const cJSON *value = field(object, name);
  return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

static const char *text(const cJSON *object, const char *name) {
  const cJSON *value = field(object, name);
  return cJSON_IsString(value) && value->valuestring != NULL ? value->valuestring : "";
}

/* "1 sample", "2 samples". */
static const char *plural(double count) {
  return count == 1 ? "" : "s";
}

static bool is_true(const cJSON *object, const char *name) {
  return cJSON_IsTrue(field(object, name));
}

static const char *print_bytes(double bytes, char amount[AMOUNT_BYTES]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1024;
    unit++;
  }
  snprintf(amount, AMOUNT_BYTES, unit > 0 && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes,
           units[unit]);
  return amount;
}

static const char *print_time(double seconds, char amount[AMOUNT_BYTES]) {
  if (seconds < 120)
    snprintf(amount, AMOUNT_BYTES, "%.0f s", seconds);
  else if (seconds < 7200)
    snprintf(amount, AMOUNT_BYTES, "%.0f min", seconds / 60);
  else if (seconds < 172800)
    snprintf(amount, AMOUNT_BYTES, "%.0f h", seconds / 3600);
  else
    snprintf(amount, AMOUNT_BYTES, "%.0f days", seconds / 86400);
  return amount;
}

static void print_head(const cJSON *status, const char *socket, FILE *out) {
  char uptime[AMOUNT_BYTES];
  fprintf(out, "daemon %.0f, version %s, up %s\n", number(status, "pid"), text(status, "version"),
          print_time(number(status, "uptime_s"), uptime));
  fprintf(out, "  state     %s (socket %s)\n", text(status, "state"), socket);
  if (text(status, "kill_switch")[0])
    fprintf(out, "  disabled  by %s: nothing is sampled while it is there\n",
            text(status, "kill_switch"));
  const cJSON *perf = field(status, "perf");
  fprintf(out, "  perf      %s%s%s\n", is_true(perf, "available") ? "available" : "not available",
          text(perf, "why")[0] ? ": " : "", text(perf, "why"));
}

static void print_uplink(const cJSON *status, FILE *out) {
  char sent[AMOUNT_BYTES], retry[AMOUNT_BYTES];
  const cJSON *uplink = field(status, "uplink");
  const char *collector = text(status, "collector"), *page = text(uplink, "page_url");
  fprintf(out, "  uplink    %s: %s%s%s", collector[0] ? collector : "no collector",
          text(uplink, "state"), text(uplink, "why")[0] ? ": " : "", text(uplink, "why"));
  double retry_ms = number(uplink, "retry_in_ms");
  if (!is_true(uplink, "connected") && retry_ms > 0)
    fprintf(out, "; next try in %s", print_time(retry_ms / 1000, retry));
  fprintf(out, "\n            %.0f batch%s acked, %s sent%s%s\n", number(uplink, "acked_batches"),
          number(uplink, "acked_batches") == 1 ? "" : "es",
          print_bytes(number(uplink, "sent_bytes"), sent), page[0] ? ", shown at " : "", page);
}

static void print_spool(const cJSON *status, FILE *out) {
  char bytes[AMOUNT_BYTES], room[AMOUNT_BYTES];
  const cJSON *spool = field(status, "spool");
  fprintf(out, "  spool     %.0f batch%s, %.0f sample%s, %s of %s", number(spool, "entries"),
          number(spool, "entries") == 1 ? "" : "es", number(spool, "records"),
          plural(number(spool, "records")), print_bytes(number(spool, "bytes"), bytes),
          print_bytes(number(spool, "bytes_max"), room));
  if (number(spool, "corrupt_segments") + number(spool, "quarantined") > 0)
    fprintf(out, "; %.0f corrupt file%s, %.0f batch%s refused for good",
            number(spool, "corrupt_segments"), plural(number(spool, "corrupt_segments")),
            number(spool, "quarantined"), number(spool, "quarantined") == 1 ? "" : "es");
  fprintf(out, "%s%s\n", text(spool, "error")[0] ? "; last error: " : "", text(spool, "error"));
}

static void print_loss(const cJSON *status, FILE *out) {
  const cJSON *loss = field(status, "loss"), *dropped;
  double total = 0;
  fprintf(out, "  samples   %.0f produced, %.0f shipped, %.0f in the open window",
          number(loss, "produced"), number(loss, "shipped"), number(loss, "open"));
  cJSON_ArrayForEach(dropped, field(loss, "dropped")) {
    if (!cJSON_IsNumber(dropped) || dropped->valuedouble <= 0) continue;
    fprintf(out, "%s%s %.0f", total > 0 ? ", " : "; lost: ", dropped->string, dropped->valuedouble);
    total += dropped->valuedouble;
  }
  fputs(total > 0 ? "\n" : ", none lost\n", out);
  double threads = number(loss, "threads_unsampled");
  if (threads > 0)
    fprintf(out, "            %.0f thread%s could not be sampled\n", threads, plural(threads));
  const cJSON *reason;
  unsigned printed = 0;
  cJSON_ArrayForEach(reason, field(loss, "unsampled"))
      fprintf(out, "%s%.0f %s",
              printed++ > 0 ? ", " : "            threads not sampled now: ", reason->valuedouble,
              reason->string);
  if (printed > 0) fputc('\n', out);
}

static const char *state_of(const cJSON *target) {
  if (is_true(target, "ended")) return "ended";
  const char *state = text(target, "state");
  return strcmp(state, "paused") == 0 || strcmp(state, "off") == 0 ? state : "runs";
}

static void print_cost(const cJSON *status, FILE *out) {
  static const char *const states[][2] = {
      {"off", "no budget"},
      {"within", "within the budget"},
      {"window", "windows are longer, to hold the budget of bytes"},
      {"cpu", "rates are lowered to hold --budget-cpu"},
      {"bytes", "rates are lowered to hold --budget-bytes"},
      {"floor", "over the budget at the lowest rate"},
      {"threads", "rates are lowered; threads from before go on at the old one"}};
  char day[AMOUNT_BYTES], budget[AMOUNT_BYTES];
  const cJSON *cost = field(status, "cost"), *limits = field(status, "budget");
  if (cost == NULL) return; /* a daemon of an older version */
  const char *state = text(limits, "state");
  for (unsigned i = 0; i < sizeof states / sizeof *states; i++)
    if (strcmp(states[i][0], state) == 0) state = states[i][1];
  fprintf(out, "  cost      daemon %.2g %%, with samples %.2g %% of a CPU (budget %.4g %%); ",
          number(cost, "daemon_cpu_percent"), number(cost, "added_cpu_percent"),
          number(limits, "cpu_percent"));
  fprintf(out, "%s in 24 h (budget %s)\n", print_bytes(number(cost, "bytes_day"), day),
          print_bytes(number(limits, "bytes_day"), budget));
  fprintf(out, "            %s; a sample: %.0f ns by perf, %.0f ns by signal", state,
          number(cost, "perf_sample_ns"), number(cost, "signal_ns"));
  if (number(cost, "handler_runs") > 0)
    fprintf(out, " and %.0f ns of handler (99 %% below %.0f)", number(cost, "handler_ns_p50"),
            number(cost, "handler_ns_p99"));
  fputc('\n', out);
}

static const char *print_rate(const cJSON *target, char why[AMOUNT_BYTES]) {
  const char *reason = text(target, "rate_reason");
  why[0] = '\0';
  if (reason[0] != '\0' && strcmp(reason, "asked") != 0)
    snprintf(why, AMOUNT_BYTES, ", %.4g Hz (%.12s)", number(target, "rate_hz"), reason);
  return why;
}

static void print_target(const cJSON *target, FILE *out) {
  char asked[AMOUNT_BYTES], achieved[AMOUNT_BYTES], rate[AMOUNT_BYTES], pid[AMOUNT_BYTES] = "all";
  if (number(target, "pid") > 0) snprintf(pid, sizeof pid, "%.0f", number(target, "pid"));
  snprintf(asked, sizeof asked, "%.4g", number(target, "asked_hz"));
  snprintf(achieved, sizeof achieved, "%.4g", number(target, "achieved_hz"));
  fprintf(out, "  %7s %-20.60s %-7s %6s %8s %9.0f %9.2f  %s%s%s%s\n", pid, text(target, "service"),
          text(target, "sampler"), asked, achieved, number(target, "samples"),
          number(target, "cpu_seconds"), state_of(target), print_rate(target, rate),
          text(target, "why")[0] ? "; " : "", text(target, "why"));
  if (text(target, "lock_step")[0])
    fprintf(out, "          lock-step with the kernel's tick is %s: its shares may be wrong\n",
            text(target, "lock_step"));
}

static void print_targets(const cJSON *status, FILE *out) {
  const cJSON *targets = field(status, "targets"), *target;
  if (cJSON_GetArraySize(targets) == 0) {
    fputs("  no program is sampled\n", out);
    return;
  }
  fprintf(out, "\n  %7s %-20s %-7s %6s %8s %9s %9s  %s\n", "PID", "SERVICE", "SAMPLER", "ASKED",
          "ACHIEVED", "SAMPLES", "CPU S", "STATE");
  cJSON_ArrayForEach(target, targets) print_target(target, out);
}

static bool is_target(const cJSON *status, double pid) {
  const cJSON *target;
  cJSON_ArrayForEach(target,
                     field(status, "targets")) if (number(target, "pid") == pid) return true;
  return false;
}

/* What `run` chose for programs that are in no row above: they have ended, or no agent started. */
static void print_notes(const cJSON *status, FILE *out) {
  const cJSON *note;
  bool is_begun = false;
  cJSON_ArrayForEach(note, field(status, "notes")) {
    if (is_target(status, number(note, "pid"))) continue;
    if (!is_begun)
      fprintf(out, "\n  %7s %-20s %-7s %s\n", "PID", "SERVICE", "CHOSEN",
              "WHY, for programs not sampled now");
    is_begun = true;
    fprintf(out, "  %7.0f %-20.60s %-7s %s\n", number(note, "pid"), text(note, "service"),
            text(note, "sampler"),
            text(note, "why")[0] ? text(note, "why") : "nothing stood against it");
  }
}

int status_print_text(const char *json, const char *socket, FILE *out) {
  cJSON *status = cJSON_Parse(json);
  if (!cJSON_IsObject(status)) {
    cJSON_Delete(status);
    return -EBADMSG;
  }
  print_head(status, socket, out);
  print_uplink(status, out);
  print_spool(status, out);
  print_loss(status, out);
  print_cost(status, out);
  print_targets(status, out);
  print_notes(status, out);
  cJSON_Delete(status);
  return 0;
}
