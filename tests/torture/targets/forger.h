/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the agent that a hostile or unlucky program can find in itself: its signal, and the
   token of its timers, from /proc/self/timers. */
#ifndef TORTURE_FORGER_H
#define TORTURE_FORGER_H

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct forger {
  int signal;      /* 0: no foreign timer in this process */
  uintptr_t token; /* of a live thread */
  unsigned timers;
};

/* Every timer of the process is the agent's as long as the program makes none. */
static inline struct forger forger_look(void) {
  struct forger found = {0, 0, 0};
  char line[128];
  FILE *timers = fopen("/proc/self/timers", "re");
  if (timers == NULL) return found;
  while (fgets(line, sizeof line, timers) != NULL) {
    unsigned long token;
    int number;
    if (sscanf(line, "signal: %d/%lx", &number, &token) != 2) continue;
    found.signal = number;
    found.token = token;
    found.timers++;
  }
  fclose(timers);
  return found;
}

/* Queues the signal to a thread of our own as if CODE had made it.  Returns 0 or -errno. */
static inline int forger_send(pid_t tid, int signal, int code, uintptr_t value) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_signo = signal;
  event.si_code = code;
  event.si_value.sival_ptr = (void *)value;
  return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, signal, &event) == 0 ? 0 : -errno;
}

#endif
