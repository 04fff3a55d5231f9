/* SPDX-License-Identifier: Apache-2.0 */
/* The child waits on a pipe for one byte, its launch manner.  End of file means that the parent is
   gone, and the child exits.  A second pipe is close-on-exec: end of file there means that exec
   succeeded, an errno that it failed.

   exec searches PATH and runs scripts without an interpreter line by the shell, as a shell does.
   The program inherits descriptors (fleetprof's own are all close-on-exec), signal dispositions and
   mask as fleetprof was started with. */
#include "launch.h"
#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STATUS_UNKNOWN = 127 << 8 };

#define AGENT_NAME "libfleetprof.so"

static ssize_t read_fully(int fd, void *bytes, size_t len) {
  ssize_t got;
  do got = read(fd, bytes, len);
  while (got < 0 && errno == EINTR);
  return got;
}

static void set_variables(char manner, const struct launch_environment *environment) {
  const char *preload = getenv("LD_PRELOAD");
  if (manner == LAUNCH_WATCHED && preload != NULL && strstr(preload, AGENT_NAME) != NULL)
    setenv("FLEETPROF", "0", 1);
  for (unsigned i = 0; manner == LAUNCH_PRELOADED && i < environment->count; i++)
    setenv(environment->names[i], environment->values[i], 1);
}

static void be_program(char *const *program, const struct launch_environment *environment,
                       int release_fd, int failure_fd) {
  char manner = LAUNCH_PLAIN;
  if (read_fully(release_fd, &manner, 1) != 1) _exit(127);
  set_variables(manner, environment);
  relay_undo_in_child();
  execvp(program[0], program);
  int error = errno;
  if (write(failure_fd, &error, sizeof error) != sizeof error) _exit(126);
  _exit(127);
}

static void close_both(const int fds[2]) {
  close(fds[0]);
  close(fds[1]);
}

int launch_start(char *const *program, const struct launch_environment *environment,
                 struct launch *ret) {
  int release[2], failure[2];
  if (pipe2(release, O_CLOEXEC) != 0) return -errno;
  if (pipe2(failure, O_CLOEXEC) != 0) {
    int error = -errno;
    close_both(release);
    return error;
  }
  pid_t pid = fork();
  if (pid == 0) {
    close(release[1]); /* otherwise end of file would never arrive */
    be_program(program, environment, release[0], failure[1]);
  }
  int error = -errno;
  close(release[0]);
  close(failure[1]);
  if (pid < 0) {
    close(release[1]);
    close(failure[0]);
    return error;
  }
  *ret = (struct launch){.pid = pid, .release_fd = release[1], .failure_fd = failure[0]};
  return 0;
}

int launch_release(struct launch *launch, enum launch_manner manner) {
  char word = (char)manner;
  int error = 0;
  ssize_t written = write(launch->release_fd, &word, 1);
  close(launch->release_fd);
  ssize_t got = written == 1 ? read_fully(launch->failure_fd, &error, sizeof error) : 0;
  close(launch->failure_fd);
  if (written == 1 && got != sizeof error) return 0;
  waitpid(launch->pid, NULL, 0);
  return written == 1 ? -error : -EPIPE;
}

int launch_wait(const struct launch *launch, struct rusage *ret_usage) {
  /* Wait first and reap after relay_end.  Otherwise a signal could be relayed to a pid that another
     process has since got. */
  siginfo_t ended;
  while (waitid(P_PID, (id_t)launch->pid, &ended, WEXITED | WNOWAIT) != 0 && errno == EINTR)
    continue;
  relay_end();
  int status = STATUS_UNKNOWN;
  while (wait4(launch->pid, &status, 0, ret_usage) < 0 && errno == EINTR) continue;
  return status;
}
