/* SPDX-License-Identifier: Apache-2.0 */
/* A check is one row here and one function in finding_kernel.c, finding_board.c or
   finding_sampling.c.  Each reports its observation; a check that did not pass also reports a
   remedy.  Scripts read the first word of a line and the exit status: 1 if a check failed, 0 if
   there are only warnings. */
#include "commands.h"
#include "common/buf.h"
#include "common/json.h"
#include "common/output_form.h"
#include "common/text.h"
#include "complaint.h"
#include "daemon_call.h"
#include "daemon_collector.h"
#include "daemon_start.h"
#include "field.h"
#include "finding.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct doctor_options {
  const char *state, *format;
};

static const struct option rows[] = {
    {"state", 0, "DIR", NULL, "Which board", "that whose directory this is", OPTION_PATH,
     offsetof(struct doctor_options, state)},
    OUTPUT_FORM_ROW("Output", struct doctor_options, format),
};

static const struct option_table table = {
    .usage = "fleetprof doctor [OPTION]...",
    .summary = "Tries what this machine and kernel allow, and says how to mend the rest.",
    .epilogue = "EXAMPLES\n  fleetprof doctor\n  fleetprof doctor --state ./board --format json\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
    .is_usual_state = paths_is_usual_state,
};

static const struct {
  const char *name;
  void (*look)(const struct patient *patient, struct finding *ret);
} checks[] = {
    {"perf events", finding_perf_events},
    {"perf ring", finding_perf_ring},
    {"CPU timers", finding_cpu_timers},
    {"kernel part", finding_kernel_samples},
    {"kernel names", finding_kernel_names},
    {"kernel tick", finding_tick},
    {"signal queue", finding_signal_queue},
    {"yama", finding_yama},
    {"agent", finding_agent},
    {"agent kind", finding_agent_kind},
    {"sampler", finding_sampler},
    {"kill switch", finding_kill_switch},
    {"daemon", finding_daemon},
    {"enrolment", finding_enrolment},
    {"certificate", finding_certificate},
    {"uplink", finding_uplink},
    {"clock", finding_clock},
    {"disk", finding_disk},
};

struct finding *finding_set(struct finding *finding, enum finding_verdict verdict,
                            const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->why, sizeof finding->why, format, args);
  va_end(args);
  finding->verdict = verdict;
  return finding;
}

void finding_mend(struct finding *finding, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(finding->mend, sizeof finding->mend, format, args);
  va_end(args);
}

/* Uses the status of a running daemon.  An ordinary user next to the system's daemon has no board
   directory, and may not read the system's. */
static int ask_daemon(struct patient *patient) {
  static struct path socket;
  char *json = NULL;
  if (daemon_find(patient->given_state, &socket) != 0 ||
      daemon_call_status(socket.text, DAEMON_CALL_STATUS_MS, &json) != 0)
    return -ENOENT;
  cJSON *status = cJSON_Parse(json);
  free(json);
  const char *state = field_text(status, "state");
  snprintf(patient->kill_switch.text, sizeof patient->kill_switch.text, "%s",
           field_text(status, "kill_switch"));
  patient->clock_offset_ns = daemon_clock_offset_ns(status);
  int error = state[0] == '/' ? paths_state(state, &patient->state) : -ENOENT;
  cJSON_Delete(status);
  return error;
}

static int examine(struct patient *patient) {
  int error = ask_daemon(patient) == 0 ? 0 : paths_state(patient->given_state, &patient->state);
  patient->is_closed = error == 0 && access(patient->state.text, X_OK) != 0 && errno == EACCES;
  return error;
}

static void print_finding(const char *check, const struct finding *finding) {
  static const char *const verdicts[] = {"PASS", "WARN", "FAIL"};
  text_print(stdout, "%s  %-12s %s", verdicts[finding->verdict], check, finding->why);
  if (finding->mend[0] != '\0') text_print(stdout, "      %-12s mend: %s", "", finding->mend);
}

static void write_finding(const char *check, const struct finding *finding, struct json *json) {
  static const char *const verdicts[] = {"pass", "warn", "fail"};
  json_open(json, '{');
  json_key_string(json, "check", check);
  json_key_string(json, "verdict", verdicts[finding->verdict]);
  json_key_string(json, "why", finding->why);
  json_key_string(json, "mend", finding->mend);
  json_close(json, '}');
}

/* Runs all checks, and prints each finding, or writes it to JSON unless that is NULL.  Returns the
   number of failed checks. */
static unsigned look_at_all(const struct patient *patient, struct json *json) {
  unsigned failed = 0;
  for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
    struct finding finding = {.verdict = FINDING_FAIL};
    checks[i].look(patient, &finding);
    if (json != NULL)
      write_finding(checks[i].name, &finding, json);
    else
      print_finding(checks[i].name, &finding);
    failed += finding.verdict == FINDING_FAIL;
  }
  return failed;
}

/* Returns the number of failed checks, or -errno. */
static int write_all(const struct patient *patient) {
  struct buf text = {0};
  struct json json;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  json_key_string(&json, "state", patient->state.text);
  json_key(&json, "checks");
  json_open(&json, '[');
  unsigned failed = look_at_all(patient, &json);
  json_close(&json, ']');
  json_key_uint(&json, "failed", failed);
  json_close(&json, '}');
  int error = output_form_write(&text);
  buf_fini(&text);
  return error != 0 ? error : (int)failed;
}

int doctor_main(int argc, char **argv) {
  static struct patient patient;
  struct doctor_options options = {0};
  struct options_result result;
  bool is_json = false;
  char error[512];
  if (options_parse(&table, argc, argv, &options, &result, error, sizeof error) != 0 ||
      (!result.is_done &&
       output_form_parse(argc, argv, options.format, &is_json, error, sizeof error) != 0)) {
    complaint("doctor: %s", error);
    return EXIT_USAGE;
  }
  if (result.is_done) return 0;
  if (result.first_positional < argc) {
    complaint("doctor: %.100s: takes no arguments; see --help", argv[result.first_positional]);
    return EXIT_USAGE;
  }
  patient.given_state = options.state;
  int failure = examine(&patient);
  if (failure != 0) {
    fprintf(stderr, "fleetprof: doctor: no state directory: %s; give --state\n",
            strerror(-failure));
    return EXIT_FAILED;
  }
  int failed = is_json ? write_all(&patient) : (int)look_at_all(&patient, NULL);
  return failed != 0 ? EXIT_FAILED : 0;
}
