/* SPDX-License-Identifier: Apache-2.0 */
/* Denies perf events to a program and its children, like perf_event_paranoid 3 or a container's
   seccomp profile, without changing the machine. FLEETPROF_FILTERS gives the agent the number of
   seccomp filters, which this adds 1 to.

     refuse_perf PROGRAM ARG...     perf_event_open fails with EACCES */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(void) {
  const char *before = getenv("FLEETPROF_FILTERS");
  char text[24];
  snprintf(text, sizeof text, "%ld", 1 + (before != NULL ? strtol(before, NULL, 10) : 0));
  setenv("FLEETPROF_FILTERS", text, 1);
}

int main(int argc, char **argv) {
  struct sock_filter rows[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {sizeof rows / sizeof *rows, rows};
  if (argc < 2) return 2;
  /* Root needs no promise, and setuid programs that it starts below keep their privilege. */
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0 &&
      (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0)) {
    fprintf(stderr, "refuse_perf: %s\n", strerror(errno));
    return 1;
  }
  tell();
  execvp(argv[1], argv + 1);
  fprintf(stderr, "refuse_perf: %s: %s\n", argv[1], strerror(errno));
  return 127;
}
