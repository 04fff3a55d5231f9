/* SPDX-License-Identifier: Apache-2.0 */
/* A row says which sampler runs, what rate it was asked for and reaches, and why no better one is
   there.  The whole board (--system) is a row too, of no process.

   Notes are what `run` chose for programs that are in no row above: most have ended, and of some
   the agent never came.  The last ones stay, so that "why was my test of a minute ago sampled by
   timer" has an answer. */
#include "status_programs.h"
#include "amount.h"
#include "field.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <string.h>

enum { LEFT_BYTES = 80 };

static const char *state_of(const cJSON *target) {
  if (field_is_true(target, "ended")) return "ended";
  const char *state = field_text(target, "state");
  if (strcmp(state, "paused") == 0 || strcmp(state, "off") == 0) return state;
  return field_find(target, "written") != NULL ? "records" : "runs";
}

/* The rate where it is not the asked one, with its reason. */
static const char *print_rate(const cJSON *target, char rate[AMOUNT_BYTES]) {
  const char *reason = field_text(target, "rate_reason");
  rate[0] = '\0';
  if (reason[0] != '\0' && strcmp(reason, "asked") != 0)
    snprintf(rate, AMOUNT_BYTES, ", %.4g Hz (%.12s)", field_number(target, "rate_hz"), reason);
  return rate;
}

/* Of a program that is to have none. */
static const char *print_timers_left(const cJSON *target, char left[LEFT_BYTES]) {
  double timers = field_number(target, "timers_left");
  left[0] = '\0';
  if (timers > 0)
    snprintf(left, LEFT_BYTES, ", %.0f timer%s go%s with the CPU time of one more sample", timers,
             timers == 1 ? "" : "s", timers == 1 ? "es" : "");
  return left;
}

/* Of a recorder what it has written: nothing of that is a sample before the program ends. */
static void print_figures(const cJSON *target, FILE *out) {
  char cpu[AMOUNT_BYTES] = "-";
  bool is_recorder = field_find(target, "written") != NULL;
  if (!is_recorder) snprintf(cpu, sizeof cpu, "%.2f", field_number(target, "cpu_seconds"));
  fprintf(out, "%9.0f %9s", field_number(target, is_recorder ? "written" : "samples"), cpu);
}

static void print_target(const cJSON *target, FILE *out) {
  char pid[AMOUNT_BYTES] = "all", asked[AMOUNT_BYTES], achieved[AMOUNT_BYTES], rate[AMOUNT_BYTES];
  char left[LEFT_BYTES];
  const char *service = field_text(target, "service"), *sampler = field_text(target, "sampler");
  const char *why = field_text(target, "why"), *lock_step = field_text(target, "lock_step");
  if (field_number(target, "pid") > 0)
    snprintf(pid, sizeof pid, "%.0f", field_number(target, "pid"));
  snprintf(asked, sizeof asked, "%.4g", field_number(target, "asked_hz"));
  double achieved_hz = field_number(target, "achieved_hz");
  snprintf(achieved, sizeof achieved, achieved_hz > 0 ? "%.4g" : "-", achieved_hz);
  fprintf(out, "  %7s %-20.60s %-7s %6s %8s ", pid, service, sampler, asked, achieved);
  print_figures(target, out);
  fprintf(out, "  %s%s%s%s%s\n", state_of(target), print_rate(target, rate),
          print_timers_left(target, left), why[0] ? "; " : "", why);
  if (lock_step[0] != '\0')
    fprintf(out, "          lock-step with the kernel's tick is %s: its shares may be wrong\n",
            lock_step);
}

static void print_targets(const cJSON *targets, FILE *out) {
  const cJSON *target;
  if (cJSON_GetArraySize(targets) == 0) {
    fputs("\n  no program is sampled now\n", out);
    return;
  }
  fprintf(out, "\n  %7s %-20s %-7s %6s %8s %9s %9s  %s\n", "PID", "SERVICE", "SAMPLER", "ASKED",
          "ACHIEVED", "SAMPLES", "CPU S", "STATE");
  cJSON_ArrayForEach(target, targets) print_target(target, out);
}

static bool is_target(const cJSON *targets, double pid) {
  const cJSON *target;
  cJSON_ArrayForEach(target, targets) {
    if (field_number(target, "pid") == pid) return true;
  }
  return false;
}

static void print_note(const cJSON *note, FILE *out) {
  const char *why = field_text(note, "why");
  fprintf(out, "  %7.0f %-20.60s %-7s %s\n", field_number(note, "pid"), field_text(note, "service"),
          field_text(note, "sampler"), why[0] ? why : "the first choice");
}

void status_programs_print(const cJSON *status, FILE *out) {
  const cJSON *targets = field_find(status, "targets"), *note;
  bool is_begun = false;
  print_targets(targets, out);
  cJSON_ArrayForEach(note, field_find(status, "notes")) {
    if (is_target(targets, field_number(note, "pid"))) continue;
    if (!is_begun)
      fprintf(out,
              "\n  started by `fleetprof run` and not sampled now: they have ended, or their agent "
              "never came\n  %7s %-20s %-7s %s\n",
              "PID", "SERVICE", "SAMPLER", "WHY THIS ONE");
    is_begun = true;
    print_note(note, out);
  }
}
