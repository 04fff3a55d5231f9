/* SPDX-License-Identifier: Apache-2.0 */
/* The agent is put before the user's own preloads, once.  Static and privileged programs do not
   load it: they run unchanged, and the daemon's status shows that it was intended (note.c).

   Programs of another word size inherit LD_PRELOAD too, and their loader warns on stderr about a
   library of the wrong class.  If the installation has a library for each word size (see
   agent/preload/CMakeLists.txt), the path contains the loader's variable $LIB. */
#include "launch_timer.h"

#include "proc/proc_status.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void add(struct launch_environment *environment, const char *name, const char *value) {
  environment->names[environment->count] = name;
  environment->values[environment->count] = value;
  environment->count++;
}

/* True if LIST, in the format of LD_PRELOAD, contains PATH. */
static bool is_listed(const char *list, const char *path) {
  size_t path_len = strlen(path);
  while (*list != '\0') {
    size_t len = strcspn(list, ": ");
    if (len == path_len && memcmp(list, path, len) == 0) return true;
    list += len + (list[len] != '\0');
  }
  return false;
}

/* True if this process's loader finds a library of its class at PATH.  Nothing is loaded. */
static bool does_loader_take(const char *path) {
  dlerror();
  void *loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (loaded != NULL) dlclose(loaded);
  return loaded != NULL || dlerror() == NULL;
}

/* Finds the agent's path: one with $LIB, if it works, or else the plain path. */
static int find_agent(struct path *ret) {
  struct path each, folder;
  int error = paths_agent(ret);
  if (error != 0) return error;
  folder = *ret;
  if (paths_join(dirname(folder.text), "$LIB/libfleetprof.so", &each) == 0 &&
      does_loader_take(each.text))
    *ret = each;
  return 0;
}

static int fill_preload(struct timer_variables *variables) {
  struct path agent;
  if (find_agent(&agent) != 0) {
    snprintf(variables->why, sizeof variables->why,
             "timer: no libfleetprof.so in ../lib/fleetprof beside fleetprof");
    return -ENOENT;
  }
  if (strpbrk(agent.text, ": ") != NULL) {
    snprintf(variables->why, sizeof variables->why,
             "timer: a path with a space or colon cannot be preloaded: %.150s", agent.text);
    return -EINVAL;
  }
  const char *old = getenv("LD_PRELOAD");
  int len;
  if (old == NULL || *old == '\0')
    len = snprintf(variables->preload, sizeof variables->preload, "%s", agent.text);
  else if (is_listed(old, agent.text))
    len = snprintf(variables->preload, sizeof variables->preload, "%s", old);
  else
    len = snprintf(variables->preload, sizeof variables->preload, "%s:%s", agent.text, old);
  if (len > 0 && (size_t)len < sizeof variables->preload) return 0;
  snprintf(variables->why, sizeof variables->why, "timer: LD_PRELOAD is too long already");
  return -ENAMETOOLONG;
}

/* Adds the collection mode; sizes that are not given are the daemon's defaults. */
static void add_collect(struct timer_variables *variables, const struct collect_choice *choice) {
  const struct {
    const char *name;
    uint32_t value;
    char *text;
  } sizes[] = {
      {"FLEETPROF_BIN_BYTES", choice->bin_bytes, variables->bin_bytes},
      {"FLEETPROF_COUNTER_BYTES", choice->counter_bytes, variables->counter_bytes},
      {"FLEETPROF_LAST", choice->last, variables->last},
  };
  add(&variables->environment, "FLEETPROF_COLLECT", collect_name(choice->collect));
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    if (sizes[i].value == 0) continue;
    snprintf(sizes[i].text, sizeof variables->last, "%u", sizes[i].value);
    add(&variables->environment, sizes[i].name, sizes[i].text);
  }
}

/* AddressSanitizer ends a program if another library precedes its own, in child processes too.  The
   agent precedes all libraries and allocates no memory, so the check can be switched off.  The last
   setting in that variable wins: the user's settings stay behind. */
static void add_asan(struct timer_variables *variables) {
  const char *old = getenv("ASAN_OPTIONS");
  bool has_old = old != NULL && *old != '\0';
  int len = snprintf(variables->asan, sizeof variables->asan, "verify_asan_link_order=0%s%s",
                     has_old ? ":" : "", has_old ? old : "");
  if (len > 0 && (size_t)len < sizeof variables->asan)
    add(&variables->environment, "ASAN_OPTIONS", variables->asan);
}

/* Returns 0 or -errno. */
static int make_timer(void) {
  struct sigevent silent = {.sigev_notify = SIGEV_NONE};
  timer_t timer;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &silent, &timer) != 0) return -errno;
  timer_delete(timer);
  return 0;
}

/* Tries a timer here: the program has the same limits. */
static int check_timer(struct timer_variables *variables) {
  int error = make_timer();
  if (error == -EAGAIN)
    snprintf(variables->why, sizeof variables->why,
             "timer: none can be made: this user's queued signals are used up (ulimit -i)");
  else if (error != 0)
    snprintf(variables->why, sizeof variables->why, "timer: none can be made: %s",
             strerror(-error));
  return error;
}

/* Tries it in a child, because a seccomp filter may kill the process that calls timer_create. */
static bool can_make_timer(void) {
  int status;
  pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    _exit(make_timer() != 0);
  }
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

/* The agent does nothing in a sandbox beyond the number of filters in FLEETPROF_FILTERS.  The
   program inherits this process's filters, which have allowed the daemon request.  Timers are tried
   in a child. */
static int add_filters(struct timer_variables *variables) {
  struct proc_status status;
  if (proc_status_read(getpid(), getpid(), &status) != 0) return 0;
  if (status.seccomp == 0) return check_timer(variables);
  if (!can_make_timer()) {
    snprintf(variables->why, sizeof variables->why,
             "timer: a seccomp filter around fleetprof does not let timers be made");
    return -EPERM;
  }
  uint32_t filters = status.filters == PROC_FILTERS_UNKNOWN ? 1 : status.filters;
  snprintf(variables->filters, sizeof variables->filters, "%u", filters);
  add(&variables->environment, "FLEETPROF_FILTERS", variables->filters);
  return 0;
}

int launch_timer_prepare(const struct run_settings *settings, const char *socket,
                         struct timer_variables *ret) {
  struct launch_environment *environment = &ret->environment;
  environment->count = 0;
  int error = fill_preload(ret);
  if (error != 0) return error;
  snprintf(ret->hz, sizeof ret->hz, "%u.%03u", settings->asked_mhz / 1000,
           settings->asked_mhz % 1000);
  add(environment, "LD_PRELOAD", ret->preload);
  add(environment, "FLEETPROF_SOCKET", socket);
  if (!settings->is_auto_rate) add(environment, "FLEETPROF_HZ", ret->hz);
  add(environment, "FLEETPROF_SAMPLER", run_settings_agent(settings));
  add_collect(ret, &settings->collect);
  add(environment, "FLEETPROF_UNWIND", unwind_choice_name(settings->unwind));
  add_asan(ret);
  error = add_filters(ret);
  if (error != 0) return error;
  if (settings->options.service != NULL)
    add(environment, "FLEETPROF_SERVICE", settings->options.service);
  if (settings->labels[0] == '\0') return 0;
  /* With the last line end, so that a single label may contain a ';'. */
  snprintf(ret->labels, sizeof ret->labels, "%s\n", settings->labels);
  add(environment, "FLEETPROF_LABEL", ret->labels);
  return 0;
}
