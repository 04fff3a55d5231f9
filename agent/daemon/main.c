/* SPDX-License-Identifier: Apache-2.0 */
/* fleetprofd: reads the options, goes to the background, opens the supervisor's resources, and runs
   the supervisor with the worker under it.  Errors of the start are reported here, as one line and
   exit 1 (2 for wrong usage).  Once the socket listens, the worker logs its errors. */
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

/* Each perf target takes one descriptor per CPU. */
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

/* The board's key is in memory, and a core file may be readable by others.  If a core is needed,
   raise the limit with prlimit. */
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
  if (failure) return 1; /* before anything was created that outlives this process */
  /* A background daemon was started by a program: service notifications would be about that
     program's service. */
  if (settings.is_foreground) service_notify_open(&keeper.notify);
  int status = keeper_run(&keeper, worker_run);
  keeper_stop_listening(&keeper);
  const struct hold_table *held = &keeper.held;
  uint32_t files = held->file_count < HOLD_FILES_MAX ? held->file_count : HOLD_FILES_MAX;
  if (status == 0 && keeper.output >= 0) file_names_write(keeper.output, held->files, files);
  keeper_close(&keeper);
  return status;
}
