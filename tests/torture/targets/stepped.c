/* SPDX-License-Identifier: Apache-2.0 */
/* Walks through the agent's handler one instruction at a time, like a debugger, and at each sends
   its signal again, with this thread's own token. So the handler is entered twice at every possible
   place. errno must not change.

     stepped TIMES     prints whether it held; without an agent there is nothing to step through */
#include "forger.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { TRAP = 0xcc, TRAP_FLAG = 0x100, ERRNO = 77 };

static struct forger agent;
static uint8_t *entry, first_byte;
static uintptr_t text_low, text_high;
static volatile int is_stepping;
static volatile unsigned long steps;

#ifdef __x86_64__

static void enter_again(void) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, agent.signal);
  forger_send((pid_t)syscall(SYS_gettid), agent.signal, SI_TIMER, agent.token);
  sigprocmask(SIG_UNBLOCK, &own, NULL);
  sigprocmask(SIG_BLOCK, &own, NULL);
}

static void on_trap(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)event;
  int saved = errno;
  greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
  if (!is_stepping) {
    *entry = first_byte;
    at[REG_RIP]--;
    is_stepping = 1;
  }
  if ((uintptr_t)at[REG_RIP] >= text_low && (uintptr_t)at[REG_RIP] < text_high) {
    at[REG_EFL] |= TRAP_FLAG;
    steps++;
    enter_again();
  } else {
    at[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    is_stepping = 0;
  }
  errno = saved;
}

static int find_text(uintptr_t address) {
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%lx-%lx", &text_low, &text_high) == 2 && address >= text_low &&
        address < text_high)
      break;
  if (maps != NULL) fclose(maps);
  int all = PROT_READ | PROT_WRITE | PROT_EXEC;
  return mprotect((void *)text_low, text_high - text_low, all);
}

static int step_through(unsigned long times) {
  struct sigaction trap = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  uintptr_t ours[4]; /* from the kernel itself: handler, flags, restorer, mask */
  syscall(SYS_rt_sigaction, agent.signal, NULL, ours, sizeof(uint64_t));
  entry = (uint8_t *)ours[0];
  if (find_text((uintptr_t)entry) != 0) return -1;
  first_byte = *entry;
  sigaction(SIGTRAP, &trap, NULL);
  for (unsigned long i = 0; i < times; i++) {
    *entry = TRAP;
    errno = ERRNO;
    forger_send((pid_t)syscall(SYS_gettid), agent.signal, SI_TIMER, agent.token);
    if (errno != ERRNO) return -1;
  }
  return 0;
}

#else

static int step_through(unsigned long times) {
  (void)times;
  return 0;
}

#endif

int main(int argc, char **argv) {
  unsigned long times = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
  agent = forger_look();
  if (agent.signal != 0 && step_through(times) != 0) {
    printf("errno was changed, or the handler cannot be stepped through\n");
    return 1;
  }
  printf("%lu instructions were interrupted\n", steps);
  return 0;
}
