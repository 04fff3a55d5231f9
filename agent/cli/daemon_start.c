/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon puts itself into the background.  Its first process is started here, and exits when
   the real daemon listens or has failed.  Only the socket shows whether a daemon is there.  Two
   runs may each start a daemon at once: the lock admits the first, the second starter fails, and
   the socket serves both runs.

   The daemon inherits little: its standard streams are /dev/null (except stderr, if is_talkative),
   and all other descriptors are close-on-exec.  The environment keeps only the daemon's settings:
   FLEETPROF_CONFIG names a file of `run`, and FLEETPROF_LABEL describes the program.

   A daemon that listens but does not accept a connection is hung.  It holds the lock, so another
   daemon could not start, and there is no wait for it. */
#include "daemon_start.h"
#include "common/clock.h"
#include "intake/intake_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECT_MS = 500,
  START_MS = 5000, /* allows for a slow board and the recovery of a spool */
  GRACE_MS = 1000, /* after the starter failed: another run's daemon may be starting */
  POLL_MS = 10,
  WORDS_MAX = 8,
};

#define NO_STATUS (-1)

/* Tries all sockets within one timeout: a hung daemon's backlog may be full. */
static int try_sockets(const struct path_list *list, struct path *ret_socket) {
  uint64_t deadline_ns = clock_monotonic_ns() + CONNECT_MS * NS_PER_MS;
  int error = -ENOENT;
  for (unsigned i = 0; i < list->count; i++) {
    int fd;
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t left_ms = now_ns < deadline_ns ? (deadline_ns - now_ns) / NS_PER_MS : 0;
    int tried = intake_client_connect(list->paths[i].text, (uint32_t)left_ms + 1, &fd);
    if (tried == 0) {
      close(fd);
      *ret_socket = list->paths[i];
      return 0;
    }
    if (tried != -ENOENT && tried != -ECONNREFUSED) error = tried;
  }
  return error;
}

int daemon_find(const char *state, struct path *ret_socket) {
  static struct path_list list; /* static: too large for a stack frame */
  int error = paths_sockets(state, &list);
  return error == 0 ? try_sockets(&list, ret_socket) : error;
}

static bool is_daemons_own(const char *variable) {
  static const char *const names[] = {
      "FLEETPROF_SPOOL_BYTES=", "FLEETPROF_WINDOW=", "FLEETPROF_BUDGET_CPU=",
      "FLEETPROF_BUDGET_BYTES=", "FLEETPROF_BUDGET_DEBUG="};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
  return false;
}

void daemon_start_environment(void) {
  static const char prefix[] = "FLEETPROF";
  char **kept = environ;
  for (char **variable = environ; *variable != NULL; variable++)
    if (strncmp(*variable, prefix, sizeof prefix - 1) != 0 || is_daemons_own(*variable))
      *kept++ = *variable;
  *kept = NULL;
  setenv("FLEETPROF", "0", 1); /* a preloaded agent does not sample the daemon */
}

static void be_daemon(const char *program, const struct daemon_wish *wish) {
  char *words[WORDS_MAX] = {(char *)(uintptr_t)program};
  unsigned count = 1;
  if (wish->state != NULL) {
    words[count++] = (char *)(uintptr_t) "--state";
    words[count++] = (char *)(uintptr_t)wish->state;
  }
  if (wish->collector != NULL) {
    words[count++] = (char *)(uintptr_t) "--collector";
    words[count++] = (char *)(uintptr_t)wish->collector;
  }
  words[count++] = (char *)(uintptr_t) "--on-demand";
  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) _exit(126);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  if (!wish->is_talkative) dup2(null, STDERR_FILENO);
  daemon_start_environment();
  execv(program, words);
  _exit(126);
}

/* Returns the exit status of STARTER (128 + the signal, if killed), NO_STATUS if it runs, or 0 if
   it cannot be determined. */
static int starter_status(pid_t starter) {
  int status;
  pid_t got = waitpid(starter, &status, WNOHANG);
  if (got != starter) return got < 0 ? 0 : NO_STATUS;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void sleep_ms(long ms) {
  struct timespec time = {.tv_nsec = ms * (long)NS_PER_MS};
  nanosleep(&time, NULL);
}

/* Waits until a socket answers, or STARTER has failed and GRACE_MS have passed. */
static int wait_for_socket(const char *state, pid_t starter, struct path *ret_socket,
                           int *ret_status) {
  uint64_t deadline = clock_monotonic_ns() + START_MS * NS_PER_MS;
  int status = NO_STATUS;
  while (daemon_find(state, ret_socket) != 0) {
    if (clock_monotonic_ns() >= deadline) {
      *ret_status = status;
      return -ETIMEDOUT;
    }
    if (status == NO_STATUS && (status = starter_status(starter)) > 0) {
      uint64_t grace = clock_monotonic_ns() + GRACE_MS * NS_PER_MS;
      if (grace < deadline) deadline = grace;
    }
    sleep_ms(POLL_MS);
  }
  return 0;
}

static int start(const struct daemon_wish *wish, struct path *ret_socket, char *why,
                 size_t why_len) {
  struct path program;
  int status = NO_STATUS;
  if (paths_program("fleetprofd", &program) != 0) {
    snprintf(why, why_len,
             "no daemon listens and fleetprofd is neither beside fleetprof nor in "
             "PATH");
    return -ENOENT;
  }
  pid_t starter = fork();
  if (starter == 0) be_daemon(program.text, wish);
  if (starter < 0) {
    snprintf(why, why_len, "no daemon listens and fork fails: %s", strerror(errno));
    return -errno;
  }
  int error = wait_for_socket(wish->state, starter, ret_socket, &status);
  if (error == 0) {
    starter_status(starter);
    return 0;
  }
  if (status > 0)
    snprintf(why, why_len, "fleetprofd does not start: it ended with status %d", status);
  else
    snprintf(why, why_len, "fleetprofd was started and does not listen after %d s",
             START_MS / 1000);
  return error;
}

int daemon_start(const struct daemon_wish *wish, struct path *ret_socket, char *why,
                 size_t why_len) {
  int found = daemon_find(wish->state, ret_socket);
  if (found == 0) return 0;
  if (found == -ETIMEDOUT) {
    snprintf(why, why_len, "a daemon listens and takes no connection: it hangs");
    return found;
  }
  struct path state;
  struct daemon_wish absolute = *wish;
  if (wish->state != NULL && paths_is_usual_state(wish->state)) {
    absolute.state = NULL;
  } else if (wish->state != NULL) {
    int error = paths_state(wish->state, &state);
    if (error != 0) {
      snprintf(why, why_len, "--state: %.200s: %s", wish->state, strerror(-error));
      return error;
    }
    absolute.state = state.text;
  }
  return start(&absolute, ret_socket, why, why_len);
}
