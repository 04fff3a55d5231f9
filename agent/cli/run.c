/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof run`: check the words, find or start a daemon, make the program's process, try the
   samplers from the best down, let it exec, wait, flush, exit as it did.

   Whatever goes wrong with the profiling, the program runs: a missing daemon, a refused sampler or
   a lost connection costs samples, never the run.  What is said about it goes to stderr only where
   that is a terminal or --verbose was given, because the program's own output is somebody's input.

   The ladder is perf, then timer, whichever of them was named: a name says where to start.  Why a
   step failed travels to the daemon with the next one, and from there into status. */
#include "commands.h"
#include "daemon_call.h"
#include "daemon_start.h"
#include "flush.h"
#include "launch.h"
#include "launch_perf.h"
#include "launch_timer.h"
#include "relay.h"
#include "run_settings.h"
#include "shipped.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_USAGE = 2, EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

struct run {
  struct run_settings settings;
  struct path socket;
  struct timer_variables timer;
  struct sampling_choice choice;
  const char *sampler;     /* the one that runs, or NULL */
  uint64_t shipped_before; /* by the daemon, when there is somebody to tell */
  bool has_daemon, is_talkative;
};

__attribute__((format(printf, 2, 3))) static void say(const struct run *run, const char *format,
                                                      ...) {
  if (!run->is_talkative) return;
  va_list args;
  va_start(args, format);
  fputs("fleetprof: ", stderr);
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
}

static void find_daemon(struct run *run) {
  const struct run_options *options = &run->settings.options;
  struct daemon_wish wish = {
      .state = options->state, .collector = options->collector, .is_talkative = run->is_talkative};
  char why[INTAKE_WHY_BYTES] = "";
  run->has_daemon = daemon_start(&wish, &run->socket, why, sizeof why) == 0;
  if (!run->has_daemon)
    say(run, "not profiled: %s", why);
  else if (run->is_talkative)
    shipped_records(run->socket.text, &run->shipped_before);
}

/* Before the fork: the variables of a preloaded program, should it come to that. */
static void prepare_timer(struct run *run) {
  run->timer.environment.count = 0;
  if (run->has_daemon) launch_timer_prepare(&run->settings, run->socket.text, &run->timer);
}

/* Tries the samplers for the waiting program.  Returns how it is to be started. */
static enum launch_manner choose_sampler(struct run *run, pid_t pid) {
  struct sampling_choice *choice = &run->choice;
  *choice =
      (struct sampling_choice){.settings = &run->settings, .socket = run->socket.text, .pid = pid};
  if (!run->has_daemon) return LAUNCH_PLAIN;
  bool is_timer_named = run->settings.sampler == RUN_SAMPLER_TIMER;
  if (is_timer_named)
    snprintf(choice->why, sizeof choice->why, "timer: asked for by name");
  else if (launch_perf(choice) == 0) {
    run->sampler = "perf";
    return LAUNCH_WATCHED;
  }
  if (run->timer.why[0] != '\0') {
    say(run, "not profiled: %s%s%s", is_timer_named ? "" : choice->why, is_timer_named ? "" : "; ",
        run->timer.why);
    return LAUNCH_PLAIN;
  }
  run->sampler = "timer";
  launch_timer_note(choice);
  return LAUNCH_PRELOADED;
}

static void say_outcome(const struct run *run, const struct intake_reply *reply) {
  static const char *const outcomes[] = {"stored by the collector", "kept in the spool", "lost"};
  const char *outcome = reply->outcome < 3 ? outcomes[reply->outcome] : "in an unknown state";
  if (reply->kind == INTAKE_REFUSED) outcome = "refused";
  uint64_t records = reply->records - run->shipped_before;
  if (reply->records < run->shipped_before) records = reply->records; /* another daemon by now */
  say(run, "%llu samples by %s, %s%s%s%s%s", (unsigned long long)records, run->sampler, outcome,
      reply->why[0] ? ": " : "", reply->why, reply->page_url[0] ? "; " : "", reply->page_url);
}

static void finish(const struct run *run, const struct rusage *usage) {
  if (run->sampler == NULL) return;
  struct intake_reply reply;
  int error = flush(&run->choice, usage, &reply);
  if (!run->is_talkative) return;
  if (error == 0)
    say_outcome(run, &reply);
  else
    say(run, "sampled by %s, but the daemon no longer answers: %s", run->sampler, strerror(-error));
}

static int refuse_program(const char *program, int error) {
  fprintf(stderr, "fleetprof: %s: %s\n", program, strerror(-error));
  return error == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The daemon was told of a program that did not come to be. */
static void take_back(struct run *run) {
  struct intake_reply reply;
  struct rusage nothing = {0};
  if (run->sampler == NULL) return;
  run->settings.options.flush_timeout_ns = 0;
  flush(&run->choice, &nothing, &reply);
}

static int run_program(struct run *run) {
  struct launch launch;
  char *const *program = run->settings.program;
  relay_begin();
  int error = launch_start(program, &run->timer.environment, &launch);
  if (error != 0) {
    relay_end();
    return refuse_program(program[0], error);
  }
  enum launch_manner manner = choose_sampler(run, launch.pid);
  error = launch_release(&launch, manner);
  if (error != 0) {
    relay_end();
    take_back(run);
    return refuse_program(program[0], error);
  }
  relay_to(launch.pid);
  struct rusage usage = {0};
  int status = launch_wait(&launch, &usage);
  finish(run, &usage);
  return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_main(int argc, char **argv) {
  static struct run run; /* several paths long */
  if (run_settings_parse(argc, argv, &run.settings) != 0) {
    fprintf(stderr, "fleetprof: run: %s\n", run.settings.error);
    return EXIT_USAGE;
  }
  if (run.settings.is_done) return 0;
  run.is_talkative = run.settings.options.is_verbose || isatty(STDERR_FILENO) == 1;
  find_daemon(&run);
  prepare_timer(&run);
  return run_program(&run);
}
