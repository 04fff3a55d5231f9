/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof run`: checks the command line, finds or starts a daemon, and creates the program's
   process.  It tries samplers in order, execs, waits, flushes, and exits with the program's status.

   If profiling fails, the program runs all the same: a missing daemon, a rejected sampler or a lost
   connection costs samples, never the run.  Messages are printed only on a terminal or with
   --verbose, because the program's own stderr may be another program's input.

   The fallback order is perf, then timer, whichever is named: a name only selects the start.  A
   program that cannot be preloaded uses perf at once.  The itimers are not in this order; they must
   be named.  The reason of each failure is sent to the daemon with the next attempt, and appears in
   its status.

   With --output a private daemon does this; it writes to the file, and ends with the run.  A file
   that cannot be written is an error before the program starts, because the user asked for a file.

   A running daemon has SETUP_MS in total for all requests before the program starts; after that the
   program starts without it.  Only a daemon that must be started first has more time. */
#include "commands.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/path.h"
#include "common/progress_line.h"
#include "complaint.h"
#include "daemon_collector.h"
#include "daemon_start.h"
#include "elf/preload_obstacle.h"
#include "flush.h"
#include "intake/kill_switch.h"
#include "launch.h"
#include "launch_perf.h"
#include "launch_timer.h"
#include "note.h"
#include "output_file.h"
#include "patience.h"
#include "private_daemon.h"
#include "private_state.h"
#include "program_look.h"
#include "relay.h"
#include "ring/ring_clock.h"
#include "run_place.h"
#include "run_settings.h"
#include "run_url.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  SETUP_MS = 2000,    /* a killed worker is replaced within a second */
  PATIENCE_MS = 1500, /* a working collector acknowledges within a second */
  SAMPLES_BYTES = 32 + INTAKE_SAMPLERS_BYTES,
};
enum {
  EXIT_FAILED = 1,
  EXIT_USAGE = 2, /* also for a program or file that cannot be used */
  EXIT_SIGNAL = 128
};

struct run {
  struct run_settings settings;
  char program_path[PATH_MAX];
  struct path socket;
  struct output_file output; /* for --output */
  struct private_daemon private_daemon;
  struct timer_variables timer;
  struct sampling_choice choice;
  const char *sampler; /* the running sampler, or NULL */
  bool has_daemon, is_talkative, has_tried_perf;
  bool has_started; /* exec succeeded */
  uint64_t start_boottime_ns, length_ns, end_walltime_ns;
  unsigned place; /* among concurrent runs of its name; 0: unknown */
};

__attribute__((format(printf, 2, 3))) static void say(const struct run *run, const char *format,
                                                      ...) {
  if (!run->is_talkative) return;
  va_list args;
  va_start(args, format);
  complaint_list(format, args);
  va_end(args);
}

/* Starts the SETUP_MS in which a daemon must answer. */
static void begin_setup(struct run *run) {
  run->choice = (struct sampling_choice){
      .settings = &run->settings,
      .socket = run->socket.text,
      .deadline_ns = clock_monotonic_ns() + SETUP_MS * NS_PER_MS,
  };
}

/* Finds the kill-switch file: the machine's, or that of the daemon's state directory. */
static bool find_file(const char *given_state, struct path *ret) {
  struct path state;
  snprintf(ret->text, sizeof ret->text, "%s", KILL_SWITCH_PATH);
  if (access(ret->text, F_OK) == 0) return true;
  if (paths_state(given_state, &state) != 0 || paths_join(state.text, "disable", ret) != 0)
    return false;
  return access(ret->text, F_OK) == 0;
}

/* Returns why profiling is off, or NULL.  A shared daemon checks the files itself. */
static const char *find_switch(const struct run *run) {
  static char text[PATHS_BYTES + sizeof "the kill-switch file  is there"];
  const struct run_options *options = &run->settings.options;
  const char *setting = getenv("FLEETPROF");
  struct path file;
  if (setting != NULL && strcmp(setting, "0") == 0) return "FLEETPROF=0";
  if (options->output == NULL || !find_file(options->state, &file)) return NULL;
  snprintf(text, sizeof text, "the kill-switch file %s is there", file.text);
  return text;
}

/* A running daemon ships to the collector that it was started with. */
static void say_collector(const struct run *run) {
  const char *wanted = run->settings.options.collector;
  char own[DAEMON_COLLECTOR_BYTES];
  if (daemon_collector(run->socket.text, own) != 0 || strcmp(own, wanted) == 0) return;
  say(run, "--collector %s: a daemon runs already, for %s: that one is used", wanted,
      own[0] != '\0' ? own : "no collector");
}

static void find_daemon(struct run *run) {
  const struct run_options *options = &run->settings.options;
  struct daemon_wish wish = {
      .state = options->state, .collector = options->collector, .is_talkative = run->is_talkative};
  char why[INTAKE_WHY_BYTES] = "";
  begin_setup(run);
  run->has_daemon = daemon_find(options->state, &run->socket) == 0;
  if (run->has_daemon && run->is_talkative && options->collector != NULL) say_collector(run);
  if (!run->has_daemon) {
    run->has_daemon = daemon_start(&wish, &run->socket, why, sizeof why) == 0;
    begin_setup(run);
  }
  if (!run->has_daemon) say(run, "not profiled: %s", why);
}

/* For --output.  Returns 0, or the exit status after an error message. */
static int start_private_daemon(struct run *run) {
  char why[INTAKE_WHY_BYTES + PATHS_BYTES];
  int status = EXIT_USAGE;
  int error = output_file_prepare(run->settings.options.output, &run->output, why, sizeof why);
  if (error == 0) {
    status = EXIT_FAILED;
    error = private_daemon_start(run->output.path.text, &run->private_daemon, &run->socket, why,
                                 sizeof why);
    if (error != 0) output_file_withdraw(&run->output);
  }
  if (error != 0) complaint("run: %s", why);
  run->has_daemon = error == 0;
  begin_setup(run);
  return error == 0 ? 0 : status;
}

/* Before the fork: prepares the variables of a preloaded program, in case they are needed. */
static void prepare_timer(struct run *run) {
  run->timer.environment.count = 0;
  if (run->has_daemon) launch_timer_prepare(&run->settings, run->socket.text, &run->timer);
}

static enum launch_manner give_up(const struct run *run, const char *why) {
  say(run, "not profiled: %s", why);
  return LAUNCH_PLAIN;
}

/* Appends WHY to the reasons of CHOICE. */
static void add_why(struct sampling_choice *choice, const char *why) {
  size_t len = strlen(choice->why);
  snprintf(choice->why + len, sizeof choice->why - len, "%s%s", len > 0 ? "; " : "", why);
}

/* Puts BEFORE in front of the reasons of CHOICE. */
static void keep_why(struct sampling_choice *choice, const char *before) {
  char after[INTAKE_WHY_BYTES];
  memcpy(after, choice->why, sizeof after);
  if (before[0] != '\0') snprintf(choice->why, sizeof choice->why, "%.120s; %.130s", before, after);
}

/* Returns 0, or an error; the reason is then the last in CHOICE->why. */
static int try_perf(struct run *run) {
  struct sampling_choice *choice = &run->choice;
  enum ring_collect collect = run->settings.collect.collect;
  char before[INTAKE_WHY_BYTES];
  int error = -EOPNOTSUPP;
  memcpy(before, choice->why, sizeof before);
  run->has_tried_perf = true;
  if (collect_needs_agent(collect))
    snprintf(choice->why, sizeof choice->why, "perf: cannot write a %s, only the agent can",
             collect_name(collect));
  else
    error = launch_perf(choice);
  if (error == 0)
    run->sampler = "perf";
  else
    keep_why(choice, before);
  return error;
}

/* Falls back to perf if the timer cannot be used: a name only selects the start of the order. */
static bool goes_by_perf(struct run *run) {
  if (run->has_tried_perf || try_perf(run) != 0) return false;
  say(run, "by perf: %s", run->choice.why);
  return true;
}

/* Uses the timer, after perf has failed or was not wanted. */
static enum launch_manner choose_timer(struct run *run) {
  static const char hung[] = "the daemon does not answer: it hangs (fleetprof doctor)";
  struct sampling_choice *choice = &run->choice;
  bool has_agent = run->timer.why[0] == '\0';
  const char *sampler = run_settings_agent(&run->settings);
  const char *obstacle = preload_obstacle_of_file(run->program_path);
  if (obstacle != NULL && strstr(choice->why, obstacle) == NULL) add_why(choice, obstacle);
  if (!has_agent) add_why(choice, run->timer.why);
  if (!has_agent && goes_by_perf(run)) return LAUNCH_WATCHED;
  int error = note_sampler(choice, has_agent ? sampler : "none");
  if (error == -ETIMEDOUT) return give_up(run, hung);
  if (!has_agent) return give_up(run, choice->why);
  /* perf samples the program's process tree already, or there is a kill switch */
  if (error == -EACCES) return goes_by_perf(run) ? LAUNCH_WATCHED : give_up(run, choice->why);
  if (error != 0) return give_up(run, strerror(-error));
  if (obstacle != NULL) say(run, "not sampled, only what it starts: %s", choice->why);
  run->sampler = sampler;
  return LAUNCH_PRELOADED;
}

/* Tries the samplers for the waiting program.  Returns its launch manner. */
static enum launch_manner choose_sampler(struct run *run, pid_t pid) {
  struct sampling_choice *choice = &run->choice;
  choice->pid = pid;
  if (!run->has_daemon) return LAUNCH_PLAIN;
  if (run->settings.sampler >= RUN_SAMPLER_TIMER) {
    bool is_timer = run->settings.sampler == RUN_SAMPLER_TIMER;
    const char *obstacle = preload_obstacle_of_file(run->program_path);
    const char *manner = is_timer ? "asked for by name" : RING_CLOCK_DANGER;
    if (obstacle != NULL || run->timer.why[0] == '\0') /* which is more useful */
      snprintf(choice->why, sizeof choice->why, "%s: %s", run_settings_agent(&run->settings),
               obstacle != NULL ? obstacle : manner);
    return obstacle != NULL && goes_by_perf(run) ? LAUNCH_WATCHED : choose_timer(run);
  }
  return try_perf(run) == 0 ? LAUNCH_WATCHED : choose_timer(run);
}

/* Formats the number of samples and their samplers.  The number is unknown if a worker was killed
   meanwhile, although its spooled samples are kept. */
static const char *print_samples(const struct intake_reply *reply, char ret[SAMPLES_BYTES]) {
  const char *by = reply->samplers[0] != '\0' ? " by " : "";
  if (reply->has_count)
    snprintf(ret, SAMPLES_BYTES, "%llu sample%s%s%s", (unsigned long long)reply->count,
             reply->count == 1 ? "" : "s", by, reply->samplers);
  else
    snprintf(ret, SAMPLES_BYTES, "samples%s%s", by, reply->samplers);
  return ret;
}

static void say_file(const struct run *run, const struct intake_reply *reply) {
  const char *file = run->settings.options.output;
  char samples[SAMPLES_BYTES];
  if (access(run->output.path.text, F_OK) != 0)
    say(run, "%s: it was removed while the program ran: nothing is left of it", file);
  else if (reply->kind == INTAKE_REFUSED)
    say(run, "%s: the last samples by %s could not be written: %s", file, run->sampler, reply->why);
  else
    say(run, "%s in %s%s%s; read it with: fleetprof report %s", print_samples(reply, samples), file,
        reply->why[0] ? ", " : "", reply->why, file);
}

static void say_who_goes_on(const struct run *run, const struct intake_reply *reply) {
  const char *program = run->settings.program[0];
  if (reply->kind != INTAKE_FLUSHED || reply->living == 0) return;
  if (run->private_daemon.pid > 0)
    say(run,
        "processes of %s go on in the background; what they do from now on is not in %s (a "
        "daemon goes on with them: fleetprof run without --output)",
        program, run->settings.options.output);
  else
    say(run, "processes of %s go on in the background and are sampled on", program);
}

/* The service's name by the daemon's rule (targets/service_name.c): by default the name of the
   started program.  The daemon's answer has no field for it, and its size is fixed across
   versions. */
static const char *service_of(const struct run *run) {
  const char *given = run->settings.options.service;
  return given != NULL && *given != '\0' ? given : path_name(run->settings.program[0]);
}

/* For a shared daemon.  A `run` label that the user gave takes precedence. */
static void take_place(struct run *run) {
  char *labels = run->settings.labels;
  bool is_given = strncmp(labels, "run=", 4) == 0 || strstr(labels, "\nrun=") != NULL;
  if (!run->has_daemon || is_given) return;
  run->place = run_place_take(run->socket.text, service_of(run), labels);
  run_place_label(run->place, labels, sizeof run->settings.labels);
}

/* Samples are stored by the collector's time.  The length is by time since boot, which is never
   set. */
static struct run_span by_the_collector(const struct run *run) {
  int64_t offset_ns = daemon_ask_clock_offset_ns(run->socket.text);
  uint64_t end_ns = run->end_walltime_ns + (uint64_t)offset_ns;
  return (struct run_span){end_ns - run->length_ns, end_ns};
}

static void say_outcome(const struct run *run, const struct intake_reply *reply) {
  static const char *const outcomes[] = {"stored by the collector", "kept in the spool", "lost"};
  char samples[SAMPLES_BYTES];
  const char *outcome = reply->outcome < 3 ? outcomes[reply->outcome] : "in an unknown state";
  if (run->private_daemon.pid > 0) {
    say_file(run, reply);
    return;
  }
  if (reply->kind == INTAKE_REFUSED) outcome = "refused";
  struct buf url = {0};
  /* The page shows nothing of samples that are not stored. */
  bool is_stored = reply->kind == INTAKE_FLUSHED && reply->outcome == INTAKE_FLUSH_ACKED;
  if (is_stored && reply->page_url[0] != '\0') {
    const struct run_span span = by_the_collector(run);
    const struct run_names names = {service_of(run), run->settings.labels, run->place == 1};
    buf_append_string(&url, "; ");
    run_url_offer(reply->page_url, &names, span, &url);
  }
  say(run, "%s, %s%s%s%s", print_samples(reply, samples), outcome, reply->why[0] ? ": " : "",
      reply->why, url.len > 0 && !url.failed ? buf_text(&url) : "");
  buf_fini(&url);
}

/* For histogram and recorder: the next daemon ships the file that the agent keeps. */
static void say_daemon_left(const struct run *run) {
  bool is_kept = collect_needs_agent(run->settings.collect.collect);
  say(run,
      "its daemon ended before the program did, and the one that runs now does not know it: %s",
      is_kept ? "that ships what the program left in a file, where it did (docs/running.md)"
              : "it was sampled until then, and not since");
}

/* Shows progress until patience_end. */
static void watch_collector(void) {
  if (progress_line_is_possible())
    patience_watch("fleetprof: waiting for the collector to store the samples,");
  else
    patience_begin("fleetprof: waiting for the collector to store the samples (--flush-timeout)",
                   PATIENCE_MS);
}

static void finish(struct run *run, const struct rusage *usage) {
  if (run->sampler == NULL) return;
  struct intake_reply reply;
  bool has_collector = run->private_daemon.pid <= 0;
  if (run->is_talkative && has_collector) watch_collector();
  int error = flush(&run->choice, usage, &reply);
  patience_end();
  run->end_walltime_ns = clock_walltime_ns(); /* its last window ended with the flush */
  run->length_ns = clock_boottime_ns() - run->start_boottime_ns;
  if (!run->is_talkative) return;
  if (error == 0) {
    say_outcome(run, &reply);
    say_who_goes_on(run, &reply);
  } else if (error == -ESTALE)
    say_daemon_left(run);
  else
    say(run, "sampled by %s, but the daemon no longer answers: %s", run->sampler, strerror(-error));
}

/* The remedy for a program that cannot be executed.  Most failures are found before anything
   starts.  Failures that only exec detects (a missing interpreter) come later, with the same exit
   status. */
static const char *program_mend(const char *program, int error) {
  struct stat found;
  bool is_there = strchr(program, '/') != NULL && stat(program, &found) == 0;
  if (is_there && S_ISDIR(found.st_mode)) return "it is a directory: name a program in it";
  if (is_there && error == -ENOENT) return "the interpreter or loader that it names is not there";
  if (error == -ENOENT && strchr(program, '/') != NULL) return "check the path";
  if (error == -ENOENT) return "it is not in PATH: check its name, or give its path";
  if (error == -EACCES) return "it must be executable, its directories searchable (chmod +x)";
  if (error == -ENOEXEC) return "it is built for another machine, or is no program";
  if (error == -ENOTDIR) return "check the path: a part of it is no directory";
  return "the kernel refuses the program itself, not its profiling";
}

static int refuse_program(const char *program, int error) {
  complaint("%s: %s: %s", program, strerror(-error), program_mend(program, error));
  return EXIT_USAGE;
}

/* Ends the daemon's record of a program that did not start. */
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
  run->start_boottime_ns = clock_boottime_ns();
  int error = launch_start(program, &run->timer.environment, &launch);
  if (error != 0) {
    relay_end();
    complaint("%s: no process for it: %s", program[0], strerror(-error));
    return EXIT_FAILED;
  }
  enum launch_manner manner = choose_sampler(run, launch.pid);
  error = launch_release(&launch, manner);
  if (error != 0) {
    relay_end();
    take_back(run);
    return refuse_program(program[0], error);
  }
  run->has_started = true;
  relay_to(launch.pid);
  struct rusage usage = {0};
  int status = launch_wait(&launch, &usage);
  finish(run, &usage);
  return WIFSIGNALED(status) ? EXIT_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_main(int argc, char **argv) {
  static struct run run; /* too large for the stack: several paths */
  if (run_settings_parse(argc, argv, &run.settings) != 0) {
    complaint("run: %s", run.settings.error);
    return EXIT_USAGE;
  }
  if (run.settings.is_done) return 0;
  int error = program_look(run.settings.program[0], run.program_path);
  if (error != 0) return refuse_program(run.settings.program[0], error);
  run.is_talkative = run.settings.options.is_verbose || isatty(STDERR_FILENO) == 1;
  int status = 0;
  const char *off = find_switch(&run);
  private_state_sweep();
  if (off != NULL) {
    say(&run, "not profiled: %s", off);
    run.settings.options.output = NULL; /* keeps an earlier profile */
  } else if (run.settings.options.output == NULL) {
    find_daemon(&run);
    take_place(&run);
  } else
    status = start_private_daemon(&run);
  if (status != 0) return status;
  prepare_timer(&run);
  status = run_program(&run);
  if (run.private_daemon.pid > 0) private_daemon_stop(&run.private_daemon);
  if (run.settings.options.output != NULL && !run.has_started) output_file_withdraw(&run.output);
  return status;
}
