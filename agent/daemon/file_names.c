/* SPDX-License-Identifier: Apache-2.0 */
/* A profile outlives the sampled files: the next build replaces them.  So names are looked up when
   the run is over, before its end is reported.

   Naming needs the sandboxed ELF parser, which the daemon lacks: on a board it only ships
   addresses.  `fleetprof`, which is installed next to it, has the parser.  It gets the file as its
   stdin, because the path may refer to another file by now.  It inherits the descriptors of the
   sampled files, for files without a path.  It stops by itself after a few seconds, or is
   killed. */
#include "file_names.h"

#include "common/clock.h"
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAMING_MS_MAX = 10000, POLL_MS_MIN = 1, POLL_MS_MAX = 20 };

/* Next to this executable, or at its place in a build tree. */
static bool find_program(char ret[PATH_MAX]) {
  static const char *const places[] = {"fleetprof", "../cli/fleetprof"};
  char own[PATH_MAX];
  ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
  if (len <= 0) return false;
  own[len] = '\0';
  char *slash = strrchr(own, '/');
  if (slash == NULL) return false;
  *slash = '\0';
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    int written = snprintf(ret, PATH_MAX, "%s/%s", own, places[i]);
    if (written < PATH_MAX && access(ret, X_OK) == 0) return true;
  }
  return false;
}

_Noreturn static void be_namer(const char *program, int fd, const int *files, uint32_t count) {
  char *const words[] = {(char *)(uintptr_t) "fleetprof", (char *)(uintptr_t) "name",
                         (char *)(uintptr_t) "--config=", (char *)(uintptr_t) "-", NULL};
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL); /* the supervisor blocks its signals */
  if (dup2(fd, STDIN_FILENO) < 0) _exit(126);
  for (uint32_t i = 0; i < count; i++) fcntl(files[i], F_SETFD, 0); /* open across exec */
  execv(program, words);
  _exit(126);
}

static void pause_ms(long ms) {
  struct timespec time = {.tv_nsec = ms * (long)NS_PER_MS};
  nanosleep(&time, NULL);
}

/* Returns whether PID exited with status 0 in time. */
static bool await(pid_t pid) {
  uint64_t deadline = clock_monotonic_ns() + NAMING_MS_MAX * NS_PER_MS;
  int status = 0;
  for (long ms = POLL_MS_MIN; waitpid(pid, &status, WNOHANG) == 0;) {
    if (clock_monotonic_ns() >= deadline) {
      kill(pid, SIGKILL); /* not waited for: a dead file system may block it for ever */
      return false;
    }
    pause_ms(ms);
    ms = ms * 2 < POLL_MS_MAX ? ms * 2 : POLL_MS_MAX;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void file_names_write(int fd, const int *files, uint32_t count) {
  char program[PATH_MAX];
  if (!find_program(program)) {
    log_info("output: no names in it: fleetprof is not beside fleetprofd");
    return;
  }
  pid_t pid = fork();
  if (pid == 0) be_namer(program, fd, files, count);
  if (pid < 0)
    log_warn("output: no names in it: fork: %s", strerror(errno));
  else if (!await(pid))
    log_warn("output: no names in it: fleetprof name did not end well");
}
