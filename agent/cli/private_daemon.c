/* SPDX-License-Identifier: Apache-2.0 */
/* A single run uses the whole pipeline of a board: samplers, drains, windows, exact accounting, and
   a worker that may be killed.  The daemon is the same program, started with --output, and writes
   batches to the file instead of spooling and sending them.

   It is a child process in its own session, so a Ctrl-C for the program does not reach it.  With
   --on-demand it survives the death of this process, and exits when the program has ended.  Its
   stderr is the log in its directory.  If it cannot start, the first line of the log has the
   reason. */
#include "private_daemon.h"
#include "common/clock.h"
#include "daemon_start.h"
#include "private_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
  START_MS = 5000,
  STOP_MS = 20000, /* on TERM a daemon ends within half of this time, and naming takes at most the
                      other half */
  POLL_MS = 5,
  LOG_TAIL_BYTES = 1024,
};

#define LOG_NAME "fleetprofd.log"

static void pause_ms(long ms) {
  struct timespec time = {.tv_nsec = ms * (long)NS_PER_MS};
  nanosleep(&time, NULL);
}

_Noreturn static void be_daemon(const char *program, const char *state, const char *output) {
  struct path log_path;
  char *const words[] = {(char *)(uintptr_t)program,
                         (char *)(uintptr_t) "--state",
                         (char *)(uintptr_t)state,
                         (char *)(uintptr_t) "--output",
                         (char *)(uintptr_t)output,
                         (char *)(uintptr_t) "--window",
                         (char *)(uintptr_t) "2s", /* the most that a kill of all processes loses */
                         (char *)(uintptr_t) "--on-demand",
                         (char *)(uintptr_t) "--foreground",
                         NULL};
  int null = open("/dev/null", O_RDWR | O_CLOEXEC), log = -1;
  if (paths_join(state, LOG_NAME, &log_path) == 0)
    log = open(log_path.text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (null < 0 || log < 0) _exit(126);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  setsid();
  daemon_start_environment();
  execv(program, words);
  _exit(126);
}

/* The first line of the daemon's log without the program's name; "" if there is none. */
static void read_log(const struct private_daemon *daemon, char ret[LOG_TAIL_BYTES]) {
  struct path path;
  ret[0] = '\0';
  if (paths_join(daemon->state.text, LOG_NAME, &path) != 0) return;
  int fd = open(path.text, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ssize_t got = read(fd, ret, LOG_TAIL_BYTES - 1);
  close(fd);
  ret[got > 0 ? got : 0] = '\0';
  ret[strcspn(ret, "\n")] = '\0';
  static const char name[] = "fleetprofd: ";
  if (strncmp(ret, name, sizeof name - 1) == 0)
    memmove(ret, ret + sizeof name - 1, strlen(ret) - (sizeof name - 1) + 1);
}

static int wait_until_it_listens(struct private_daemon *daemon, struct path *ret_socket) {
  uint64_t deadline = clock_monotonic_ns() + START_MS * NS_PER_MS;
  while (daemon_find(daemon->state.text, ret_socket) != 0) {
    if (waitpid(daemon->pid, NULL, WNOHANG) != 0) {
      daemon->pid = 0;
      return -ECHILD;
    }
    if (clock_monotonic_ns() >= deadline) return -ETIMEDOUT;
    pause_ms(POLL_MS);
  }
  return 0;
}

static int start_in(const char *program, const char *output, struct private_daemon *daemon,
                    struct path *ret_socket) {
  daemon->pid = fork();
  if (daemon->pid == 0) be_daemon(program, daemon->state.text, output);
  if (daemon->pid > 0) return wait_until_it_listens(daemon, ret_socket);
  daemon->pid = 0;
  return -errno;
}

static void explain(const struct private_daemon *daemon, int error, char *why, size_t why_len) {
  char line[LOG_TAIL_BYTES];
  read_log(daemon, line);
  if (line[0] != '\0')
    snprintf(why, why_len, "fleetprofd does not start: %s", line);
  else if (error == -ETIMEDOUT)
    snprintf(why, why_len, "fleetprofd does not listen after %d s", START_MS / 1000);
  else
    snprintf(why, why_len, "fleetprofd does not start (fleetprof doctor)");
}

/* The directory that OUTPUT, an absolute path, lies in. */
static void find_parent(const char *output, struct path *ret) {
  snprintf(ret->text, sizeof ret->text, "%s", output);
  char *slash = strrchr(ret->text, '/');
  if (slash != NULL) slash[slash == ret->text ? 1 : 0] = '\0';
}

int private_daemon_start(const char *output, struct private_daemon *ret, struct path *ret_socket,
                         char *why, size_t why_len) {
  struct path program, parent;
  *ret = (struct private_daemon){.pid = 0};
  if (paths_program("fleetprofd", &program) != 0) {
    snprintf(why, why_len, "fleetprofd is neither beside fleetprof nor in PATH");
    return -ENOENT;
  }
  find_parent(output, &parent);
  int error = private_state_make(parent.text, &ret->state);
  if (error != 0) {
    snprintf(why, why_len, "no temporary directory can be made (set TMPDIR): %s", strerror(-error));
    return error;
  }
  error = start_in(program.text, output, ret, ret_socket);
  if (error == 0) return 0;
  explain(ret, error, why, why_len);
  private_daemon_stop(ret);
  return error;
}

static bool has_ended(pid_t pid) {
  return waitpid(pid, NULL, WNOHANG) != 0;
}

void private_daemon_stop(struct private_daemon *daemon) {
  uint64_t deadline = clock_monotonic_ns() + STOP_MS * NS_PER_MS;
  if (daemon->pid > 0) kill(daemon->pid, SIGTERM);
  while (daemon->pid > 0 && !has_ended(daemon->pid)) {
    if (clock_monotonic_ns() >= deadline) {
      kill(daemon->pid, SIGKILL);
      waitpid(daemon->pid, NULL, 0);
      break;
    }
    pause_ms(POLL_MS);
  }
  daemon->pid = 0;
  if (daemon->state.text[0] != '\0') private_state_remove(daemon->state.text);
}
