/* SPDX-License-Identifier: Apache-2.0 */
/* A program that uses SIGURG and all real-time signals itself, including the agent's: installs its
   own handler, ignores it, blocks and awaits it, sends it to itself with a value. Each must work
   according to the manual, whatever used the signal before.

     signal_owner MODE MS     handler | ignore | wait | poll | ask | default;  burns MS afterwards
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t received, foreign;
static volatile int last_value;
static volatile uint64_t sink;

static void on_own(int signal, siginfo_t *event, void *context) {
  (void)signal;
  (void)context;
  if (event->si_code != SI_QUEUE) foreign++;
  received++;
  last_value = event->si_value.sival_int;
}

static void burn(double ms) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  double until = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 + ms;
  do {
    for (int i = 0; i < 100000; i++) sink += (uint64_t)i;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while ((double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6 < until);
}

/* SIGURG, then every real-time signal. */
static int after(int signal) {
  return signal == SIGURG ? SIGRTMIN : signal + 1;
}

static int take_all(void) {
  struct sigaction own = {.sa_sigaction = on_own, .sa_flags = SA_SIGINFO | SA_RESTART};
  int sent = 0;
  for (int signal = SIGURG; signal <= SIGRTMAX; signal = after(signal)) {
    if (sigaction(signal, &own, NULL) != 0) return -1;
    if (sigqueue(getpid(), signal, (union sigval){.sival_int = signal}) != 0) return -1;
    sent++;
    if (last_value != signal) return -1;
  }
  return received == sent ? 0 : -1;
}

static int ignore_all(void) {
  for (int signal = SIGURG; signal <= SIGRTMAX; signal = after(signal)) {
    struct sigaction ignored = {.sa_handler = SIG_IGN}, now;
    if (sigaction(signal, &ignored, NULL) != 0 || raise(signal) != 0) return -1;
    if (sigaction(signal, NULL, &now) != 0 || now.sa_handler != SIG_IGN) return -1;
  }
  return 0;
}

static int block_all(void) {
  sigset_t all;
  sigfillset(&all);
  return sigprocmask(SIG_BLOCK, &all, NULL);
}

static int wait_for_all(void) {
  block_all();
  burn(50);
  for (int signal = SIGURG; signal <= SIGRTMAX; signal = after(signal)) {
    sigset_t one;
    siginfo_t event;
    sigemptyset(&one);
    sigaddset(&one, signal);
    if (sigqueue(getpid(), signal, (union sigval){.sival_int = 7}) != 0) return -1;
    if (sigwaitinfo(&one, &event) != signal || event.si_code != SI_QUEUE) return -1;
    if (event.si_value.sival_int != 7) return -1;
  }
  return 0;
}

/* As a latch does it: blocked, and read from a descriptor. */
static int poll_all(void) {
  sigset_t all;
  struct signalfd_siginfo event;
  sigfillset(&all);
  block_all();
  burn(50);
  int fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  for (int i = 0; i < 20; i++) {
    struct pollfd poll_one = {.fd = fd, .events = POLLIN};
    burn(5);
    if (poll(&poll_one, 1, 1) != 0) return -1;
  }
  if (sigqueue(getpid(), SIGURG, (union sigval){.sival_int = 7}) != 0) return -1;
  if (read(fd, &event, sizeof event) != sizeof event) return -1;
  return event.ssi_signo == SIGURG && event.ssi_int == 7 && close(fd) == 0 ? 0 : -1;
}

/* A query returns the untouched default, and changes nothing. */
static int ask_all(void) {
  for (int signal = SIGURG; signal <= SIGRTMAX; signal = after(signal)) {
    struct sigaction now;
    if (sigaction(signal, NULL, &now) != 0 || now.sa_handler != SIG_DFL || now.sa_flags != 0)
      return -1;
  }
  return 0;
}

/* Back to the default, under which a late expiry of a timer would end the program. */
static int default_all(void) {
  for (int signal = SIGURG; signal <= SIGRTMAX; signal = after(signal))
    if (sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL) != 0) return -1;
  return 0;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*act)(void);
  } modes[] = {{"handler", take_all}, {"ignore", ignore_all}, {"wait", wait_for_all},
               {"poll", poll_all},    {"ask", ask_all},       {"default", default_all}};
  if (argc < 3) return 2;
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (strcmp(argv[1], modes[i].name) != 0) continue;
    burn(50);
    if (modes[i].act() != 0) {
      printf("%s: a signal of its own did not come\n", argv[1]);
      return 1;
    }
    burn(strtod(argv[2], NULL));
    if (foreign != 0) {
      printf("%s: %d calls of its handler that it did not ask for\n", argv[1], (int)foreign);
      return 1;
    }
    printf("%s: as the manual says\n", argv[1]);
    return 0;
  }
  return 2;
}
