/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof run` stays in the program's process group.  The kernel sends terminal signals
   (interrupt, quit, hang-up) to the whole group: the program has them already, and fleetprof only
   must survive them.  Signals that another process sends to fleetprof's pid are relayed; si_code
   distinguishes the two.  A signal that the starter ignored (nohup, a shell's background job) stays
   ignored, for fleetprof and the program.

   Stop and continue are left alone: the shell's job control sees fleetprof stop together with the
   program. */
#include "relay.h"

#include <signal.h>
#include <stddef.h>

static const int relayed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { RELAYED = sizeof relayed / sizeof *relayed };

static struct {
  struct sigaction before[RELAYED];
  struct sigaction child_before;
  sigset_t mask_before;
} relay;

static volatile sig_atomic_t target;

static void on_signal(int signal, siginfo_t *event, void *context) {
  (void)context;
  if (event->si_code <= 0 && target > 0) kill((pid_t)target, signal);
}

void relay_begin(void) {
  sigset_t held;
  sigemptyset(&held);
  for (int i = 0; i < RELAYED; i++) sigaddset(&held, relayed[i]);
  sigprocmask(SIG_BLOCK, &held, &relay.mask_before);
  struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  ours.sa_mask = held;
  for (int i = 0; i < RELAYED; i++) {
    sigaction(relayed[i], NULL, &relay.before[i]);
    if (relay.before[i].sa_handler != SIG_IGN) sigaction(relayed[i], &ours, NULL);
  }
  /* If the starter ignores SIGCHLD, the kernel would reap the program before it is waited for. */
  struct sigaction usual = {.sa_handler = SIG_DFL};
  sigaction(SIGCHLD, &usual, &relay.child_before);
}

static void undo(void) {
  for (int i = 0; i < RELAYED; i++) sigaction(relayed[i], &relay.before[i], NULL);
  sigaction(SIGCHLD, &relay.child_before, NULL);
  sigprocmask(SIG_SETMASK, &relay.mask_before, NULL);
}

void relay_undo_in_child(void) {
  undo();
}

void relay_to(pid_t program) {
  target = (sig_atomic_t)program;
  sigprocmask(SIG_SETMASK, &relay.mask_before, NULL);
}

void relay_end(void) {
  target = 0;
  undo();
}
