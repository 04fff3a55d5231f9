/* SPDX-License-Identifier: Apache-2.0 */
/* A row has the sampler, the requested and the actual rate, and why no better sampler is used.  The
   whole board (--system) has a row without a process.

   Launch records of `run` follow for programs without a row.  First those without samples, whether
   the program has ended or its agent did not connect; then programs that were sampled until they
   ended.  The newest are kept, so that "why was my test a minute ago sampled by timer" has an
   answer. */
#include "status_programs.h"
#include "amount.h"
#include "common/quantity.h"
#include "field.h"
#include "proto/batch.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <string.h>

#define UNSAMPLED_BEFORE_REASON "[unsampled]: " /* daemon/run_note.c */

enum { LEFT_BYTES = 80, RATE_BYTES = 48, NOTES_MAX = 10 /* per list */ };

static const char *state_of(const cJSON *target) {
  if (field_is_true(target, "ended")) return "ended";
  const char *state = field_text(target, "state");
  if (strcmp(state, "paused") == 0 || strcmp(state, "off") == 0) return state;
  return field_find(target, "written") != NULL ? "records" : "runs";
}

/* Formats the rate if it is not the requested one, with its reason. */
static const char *print_rate(const cJSON *target, char rate[RATE_BYTES]) {
  char hz[QUANTITY_TEXT_BYTES];
  const char *reason = field_text(target, "rate_reason");
  rate[0] = '\0';
  if (reason[0] != '\0' && strcmp(reason, "asked") != 0)
    snprintf(rate, RATE_BYTES, ", %s Hz (%.12s)",
             quantity_print(field_number(target, "rate_hz"), hz), reason);
  return rate;
}

/* For a program with sampling off. */
static const char *print_timers_left(const cJSON *target, char left[LEFT_BYTES]) {
  double timers = field_number(target, "timers_left");
  left[0] = '\0';
  if (timers > 0)
    snprintf(left, LEFT_BYTES, ", %.0f timer%s go%s with the CPU time of one more sample", timers,
             timers == 1 ? "" : "s", timers == 1 ? "es" : "");
  return left;
}

/* For a recorder, the number of written records: they become samples only when the program ends. */
static void print_figures(const cJSON *target, FILE *out) {
  char cpu[AMOUNT_BYTES] = "-";
  bool is_recorder = field_find(target, "written") != NULL;
  if (!is_recorder) snprintf(cpu, sizeof cpu, "%.2f", field_number(target, "cpu_seconds"));
  fprintf(out, "%9.0f %9s", field_number(target, is_recorder ? "written" : "samples"), cpu);
}

/* Prints how the program's stacks ended, if the reasons are known for any. */
static void print_stacks(const cJSON *target, FILE *out) {
  const cJSON *share, *stacks = field_find(target, "stacks");
  const char *before = "          stacks: ";
  if (stacks == NULL || field_number(stacks, "not_told") > 0.9995) return;
  cJSON_ArrayForEach(share, stacks) {
    if (share->valuedouble < 0.0005) continue;
    const char *rest = strchr(share->string, '_');
    fprintf(out, "%s%.1f %% ", before, 100 * share->valuedouble);
    fprintf(out, "%.*s%s%s", (int)strcspn(share->string, "_"), share->string, rest ? " " : "",
            rest ? rest + 1 : "");
    before = ", ";
  }
  if (before[0] == ',') fputc('\n', out);
}

static void print_target(const cJSON *target, FILE *out) {
  char pid[AMOUNT_BYTES] = "all", asked[QUANTITY_TEXT_BYTES], achieved[QUANTITY_TEXT_BYTES] = "-";
  char rate[RATE_BYTES], left[LEFT_BYTES];
  const char *service = field_text(target, "service"), *sampler = field_text(target, "sampler");
  const char *why = field_text(target, "why"), *lock_step = field_text(target, "lock_step");
  if (field_number(target, "pid") > 0)
    snprintf(pid, sizeof pid, "%.0f", field_number(target, "pid"));
  quantity_print(field_number(target, "asked_hz"), asked);
  double achieved_hz = field_number(target, "achieved_hz");
  if (achieved_hz > 0) quantity_print(achieved_hz, achieved);
  fprintf(out, "  %7s %-20.60s %-7s %6s %8s ", pid, service, sampler, asked, achieved);
  print_figures(target, out);
  fprintf(out, "  %s%s%s%s%s\n", state_of(target), print_rate(target, rate),
          print_timers_left(target, left), why[0] ? "; " : "", why);
  print_stacks(target, out);
  double unsampled = field_number(target, "unsampled_share");
  if (unsampled >= PSEUDO_TOLD_SHARE)
    fprintf(out,
            "          %.0f %% of its CPU time is [unsampled] so far (a report of it says what "
            "helps)\n",
            100 * unsampled);
  if (lock_step[0] != '\0')
    fprintf(out, "          lock-step with the kernel's tick is %s: its shares may be wrong\n",
            lock_step);
}

/* If the daemon reports whether perf events sample the kernel. */
static void print_kernel(const cJSON *targets, FILE *out) {
  const cJSON *target;
  unsigned closed = 0;
  cJSON_ArrayForEach(target, targets) {
    bool is_told = field_find(target, "samples_kernel") != NULL;
    closed += is_told && !field_is_true(target, "samples_kernel");
  }
  if (closed == 0) return;
  fprintf(
      out,
      "          the kernel's functions are one row, [kernel], of %u program%s by perf: they are "
      "for root, CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1\n",
      closed, closed == 1 ? "" : "s");
}

static void print_hidden(double hidden, FILE *out) {
  if (hidden > 0)
    fprintf(out, "  programs of other users: %.0f (only root can list them)\n", hidden);
}

static void print_targets(const cJSON *targets, double hidden, FILE *out) {
  const cJSON *target;
  if (cJSON_GetArraySize(targets) == 0) {
    fprintf(out, "\n  no program %sis sampled now\n", hidden > 0 ? "of this user " : "");
    print_hidden(hidden, out);
    return;
  }
  fprintf(out, "\n  %7s %-20s %-7s %6s %8s %9s %9s  %s\n", "PID", "SERVICE", "SAMPLER", "ASKED",
          "ACHIEVED", "SAMPLES", "CPU S", "STATE");
  cJSON_ArrayForEach(target, targets) print_target(target, out);
  print_hidden(hidden, out);
  print_kernel(targets, out);
}

static bool is_target(const cJSON *targets, double pid) {
  const cJSON *target;
  cJSON_ArrayForEach(target, targets) {
    if (field_number(target, "pid") == pid) return true;
  }
  return false;
}

/* Whether NOTE has no row above, and has samples or not as IS_SAMPLED requires. */
static bool is_listed(const cJSON *note, const cJSON *targets, bool is_sampled) {
  bool has_samples = field_find(note, "samples") == NULL || field_number(note, "samples") > 0;
  return has_samples == is_sampled && !is_target(targets, field_number(note, "pid"));
}

struct note_list {
  const cJSON *notes, *targets;
  bool is_sampled;
};

/* The number of listed notes of LIST that are newer than NOTE. */
static unsigned count_newer(const struct note_list *list, const cJSON *note) {
  const cJSON *other;
  unsigned count = 0;
  cJSON_ArrayForEach(other, list->notes) {
    bool is_newer = field_number(other, "serial") > field_number(note, "serial");
    count += is_newer && is_listed(other, list->targets, list->is_sampled);
  }
  return count;
}

static void print_note(const cJSON *note, FILE *out) {
  const char *unsampled = field_text(note, "unsampled"), *why = field_text(note, "why");
  /* That text may end with why, or with its beginning. */
  const char *reason = strstr(unsampled, UNSAMPLED_BEFORE_REASON);
  if (reason != NULL) reason += strlen(UNSAMPLED_BEFORE_REASON);
  if (reason != NULL && strncmp(why, reason, strlen(reason)) == 0) why = "";
  fprintf(out, "  %7.0f %-20.60s %-7s %8.0f  %s%s%s%s%s\n", field_number(note, "pid"),
          field_text(note, "service"), field_text(note, "sampler"), field_number(note, "samples"),
          field_is_true(note, "ended") ? "ended" : "runs", unsampled[0] ? "; " : "", unsampled,
          why[0] ? "; " : "", why);
}

static void print_notes(const struct note_list *list, FILE *out) {
  const cJSON *note;
  unsigned printed = 0, earlier = 0;
  cJSON_ArrayForEach(note, list->notes) {
    if (!is_listed(note, list->targets, list->is_sampled)) continue;
    bool is_early = count_newer(list, note) >= NOTES_MAX;
    earlier += is_early;
    if (is_early) continue;
    if (printed++ == 0)
      fprintf(out, "\n  of `fleetprof run`, %s\n  %7s %-20s %-7s %8s  %s\n",
              list->is_sampled ? "sampled until they ended" : "nothing was sampled of", "PID",
              "SERVICE", "SAMPLER", "SAMPLES", "STATE");
    print_note(note, out);
  }
  if (earlier > 0) fprintf(out, "  and %u before these\n", earlier);
}

void status_programs_print(const cJSON *status, FILE *out) {
  struct note_list list = {field_find(status, "notes"), field_find(status, "targets"), false};
  print_targets(list.targets, field_number(status, "targets_hidden"), out);
  print_notes(&list, out);
  list.is_sampled = true;
  print_notes(&list, out);
}
