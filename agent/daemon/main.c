/* SPDX-License-Identifier: Apache-2.0 */
/* fleetprofd: reads the options, goes to the background, opens what the keeper holds, and runs the
   keeper with the worker under it.  All errors of the start end here, as one line and exit 1 (2 for
   wrong usage); once the socket listens, trouble is the worker's and goes to the log. */
#include "daemonize.h"
#include "file_names.h"
#include "worker.h"

#include "common/log.h"
#include "common/text.h"
#include "keeper/keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { ERROR_BYTES = SETTINGS_PATH_BYTES + 256, EXIT_USAGE = 2 };

/* Each perf target takes one descriptor a CPU. */
static void raise_descriptor_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static int start(const struct settings *settings, struct keeper *keeper, char *error) {
  char log_path[SETTINGS_PATH_BYTES];
  int failure = settings_make_dirs(settings, error, ERROR_BYTES);
  if (!failure && !settings->is_foreground) {
    if (!settings_path(settings->state_dir, "fleetprofd.log", log_path)) return -ENAMETOOLONG;
    failure = daemonize_redirect(log_path);
    if (failure) snprintf(error, ERROR_BYTES, "%s: %s", log_path, strerror(-failure));
  }
  return failure ? failure : keeper_open(settings, keeper, error, ERROR_BYTES);
}

/* The board's key is in our memory, and a core file is anybody's who finds it.  Who needs one
   raises the limit with prlimit. */
static void keep_no_core(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
  limit.rlim_cur = 0;
  setrlimit(RLIMIT_CORE, &limit);
}

int main(int argc, char **argv) {
  static struct settings settings;
  static struct keeper keeper;
  struct options_result parsed;
  char error[ERROR_BYTES] = "", line[ERROR_BYTES + 16];
  int report = -1;
  daemonize_close_inherited();
  int failure = settings_parse(argc, argv, &settings, &parsed, error, sizeof error);
  if (failure) {
    text_print(stderr, "fleetprofd: %s", error);
    return failure == -EINVAL ? EXIT_USAGE : 1;
  }
  if (parsed.is_done) return 0;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  raise_descriptor_limit();
  keep_no_core();
  if (settings.is_verbose) log_set_level(LOG_LEVEL_DEBUG);
  if (!settings.is_foreground) {
    report = daemonize_begin();
    if (report < 0) {
      fprintf(stderr, "fleetprofd: cannot go to the background: %s\n", strerror(-report));
      return 1;
    }
  }
  failure = start(&settings, &keeper, error);
  snprintf(line, sizeof line, "fleetprofd: %s", error[0] ? error : strerror(-failure));
  if (report >= 0)
    daemonize_report(report, failure ? line : NULL);
  else if (failure)
    text_print(stderr, "%s", line);
  if (failure) return 1; /* before anything was made that outlives us */
  /* A daemon in the background was started by a program, whose service is not ours to speak for. */
  if (settings.is_foreground) service_notify_open(&keeper.notify);
  int status = keeper_run(&keeper, worker_run);
  keeper_stop_listening(&keeper);
  const struct hold_table *held = &keeper.held;
  uint32_t files = held->file_count < HOLD_FILES_MAX ? held->file_count : HOLD_FILES_MAX;
  if (status == 0 && keeper.output >= 0) file_names_write(keeper.output, held->files, files);
  keeper_close(&keeper);
  return status;
}
