/* SPDX-License-Identifier: Apache-2.0 */
/* Works in its own pid namespace: its child has pid 1 there, and the grandchild has pid NUMBER.
   Both numbers belong to other processes outside.

     apart SECONDS NUMBER     each process prints the CPU time that it has spent

   Exits with 77 if the namespace or the pid is not available. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

__attribute__((noipa)) static void burn_apart(double seconds) {
  while (cpu_seconds() < seconds)
    for (int i = 0; i < 100000; i++) sink += 1;
}

/* Waits for PID's end. */
static int pass_on(pid_t pid) {
  int status;
  return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Makes NUMBER the pid of the next process in this namespace. */
static int choose(int number) {
  char text[16];
  int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY);
  int len = snprintf(text, sizeof text, "%d", number - 1);
  return fd >= 0 && write(fd, text, (size_t)len) == len && close(fd) == 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  double seconds = strtod(argv[1], NULL);
  if (unshare(CLONE_NEWPID) != 0) return 77;
  pid_t first = fork();
  if (first != 0) return pass_on(first);
  if (!choose((int)strtol(argv[2], NULL, 10))) return 77;
  pid_t second = fork();
  if (second == 0) {
    burn_apart(seconds);
    printf("%.4f\n", cpu_seconds());
    return 0;
  }
  burn_apart(seconds);
  printf("%.4f\n", cpu_seconds());
  fflush(stdout);
  return pass_on(second);
}
