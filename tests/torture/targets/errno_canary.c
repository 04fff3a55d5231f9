/* SPDX-License-Identifier: Apache-2.0 */
/* Threads set errno, spin, and compare: a handler that clobbers it is detected. Meanwhile every way
   out of the agent's handler is forced: its signal from another source (SI_QUEUE, SI_USER), a
   timer's code with an unknown token, a forged token of another living thread, and a SIGTRAP inside
   it whose handler sends the signal again. (stepped.c enters it twice, at each instruction.)

     errno_canary CHECKS     prints how often errno was wrong, which must be 0 */
#include "forger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { CHECKERS = 2, SPIN = 200, KINDS = 6, BOMBS_MAX = 300000, FORGED = 5000 };

static uint64_t wanted;
static _Atomic uint64_t wrong, sent[KINDS];
static _Atomic int running = CHECKERS;
static _Atomic pid_t tids[CHECKERS];
static struct forger agent;

static void on_trap(int signal) {
  (void)signal;
  int saved = errno;
  forger_send((pid_t)syscall(SYS_gettid), agent.signal, SI_TIMER, agent.token);
  errno = saved;
}

static void *check(void *argument) {
  uintptr_t me = (uintptr_t)argument;
  atomic_store(&tids[me], (pid_t)syscall(SYS_gettid));
  int expected = 1;
  for (uint64_t i = 0; i < wanted / CHECKERS; i++) {
    if (i % SPIN == 0) expected = 1 + (int)(i / SPIN % 130);
    if (i % SPIN == 0) errno = expected;
    if (errno != expected) {
      atomic_fetch_add(&wrong, 1);
      errno = expected;
    }
  }
  atomic_fetch_sub(&running, 1);
  return NULL;
}

static int send_one(unsigned kind, pid_t tid) {
  switch (kind) {
  case 0:
    return forger_send(tid, agent.signal, SI_QUEUE, agent.token);
  case 1:
    return forger_send(tid, agent.signal, SI_TIMER, 0x1234567);
  case 2:
    return forger_send(tid, agent.signal, SI_TIMER, agent.token + 1);
  case 3:
    return forger_send(tid, agent.signal, SI_TIMER, agent.token);
  case 4:
    return syscall(SYS_tgkill, getpid(), tid, agent.signal) == 0 ? 0 : -errno;
  default:
    return syscall(SYS_tgkill, getpid(), tid, SIGTRAP) == 0 ? 0 : -errno;
  }
}

static void *bomb(void *argument) {
  unsigned first = (unsigned)(uintptr_t)argument;
  for (unsigned i = 0; i < BOMBS_MAX && atomic_load(&running) > 0; i++) {
    unsigned kind = first == KINDS ? KINDS - 1 : i % (KINDS - 1);
    pid_t tid = atomic_load(&tids[i / KINDS % CHECKERS]);
    if (tid != 0 && send_one(kind, tid) == 0) atomic_fetch_add(&sent[kind], 1);
  }
  return NULL;
}

/* Forged samples of this thread, one after the other: an undrained ring fills. */
static void fill_ring(void) {
  for (int i = 0; i < FORGED && agent.signal != 0; i++) {
    errno = 1 + i % 130;
    forger_send((pid_t)syscall(SYS_gettid), agent.signal, SI_TIMER, agent.token);
    if (errno != 1 + i % 130) atomic_fetch_add(&wrong, 1);
  }
}

int main(int argc, char **argv) {
  wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  agent = forger_look();
  struct sigaction trap = {.sa_handler = on_trap, .sa_flags = SA_RESTART};
  sigaction(SIGTRAP, &trap, NULL);
  fill_ring();
  pthread_t checkers[CHECKERS], bombers[2];
  for (uintptr_t i = 0; i < CHECKERS; i++) pthread_create(&checkers[i], NULL, check, (void *)i);
  for (uintptr_t i = 0; i < 2 && agent.signal != 0; i++)
    pthread_create(&bombers[i], NULL, bomb, (void *)(i * KINDS));
  for (unsigned i = 0; i < CHECKERS; i++) pthread_join(checkers[i], NULL);
  for (unsigned i = 0; i < 2 && agent.signal != 0; i++) pthread_join(bombers[i], NULL);
  printf("%llu wrong of %llu; signals sent by kind:", (unsigned long long)atomic_load(&wrong),
         (unsigned long long)wanted);
  for (unsigned i = 0; i < KINDS; i++) printf(" %llu", (unsigned long long)atomic_load(&sent[i]));
  printf("\n");
  return atomic_load(&wrong) != 0;
}
