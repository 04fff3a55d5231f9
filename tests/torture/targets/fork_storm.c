/* SPDX-License-Identifier: Apache-2.0 */
/* Forks repeatedly with so much memory that one fork takes longer than a timer's period. A signal
   that arrives within makes the kernel restart the fork; with a timer that always expires meanwhile
   it never ends. Each child ends at once. Prints the thread's CPU time of a fork in microseconds:
   the median, and the costliest.

     fork_storm COUNT [MIB [LIMIT_SECONDS [HZ]]]

   With HZ the program arms its own timer with an empty handler and no protection, like a careless
   profiler. Status 3 if it was not done within LIMIT_SECONDS. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKS_MOST = 100000 };

static uint32_t took_us[FORKS_MOST];
static volatile sig_atomic_t expiries;

static void on_expiry(int number) {
  (void)number;
  expiries = expiries + 1;
}

static void on_alarm(int number) {
  static const char said[] = "a fork does not end\n";
  (void)number;
  (void)!write(STDOUT_FILENO, said, sizeof said - 1);
  _exit(3);
}

static uint64_t now_us(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static int arm(unsigned hz) {
  struct sigaction action = {.sa_handler = on_expiry, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  struct itimerspec every = {{0, 1000000000 / hz}, {0, 1000000000 / hz}};
  timer_t timer;
  if (sigaction(SIGPROF, &action, NULL) != 0) return -1;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return -1;
  return timer_settime(timer, 0, &every, NULL);
}

static int fork_once(uint32_t *ret_us) {
  int status = -1;
  uint64_t before = now_us(CLOCK_THREAD_CPUTIME_ID);
  pid_t child = fork();
  if (child == 0) _exit(7);
  *ret_us = (uint32_t)(now_us(CLOCK_THREAD_CPUTIME_ID) - before);
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? 0 : -1;
}

static int by_time(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static long number(int argc, char **argv, int at, long otherwise) {
  return argc > at ? strtol(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
  long count = number(argc, argv, 1, 2000), mib = number(argc, argv, 2, 256);
  long limit = number(argc, argv, 3, 600), hz = number(argc, argv, 4, 0);
  if (count < 1 || count > FORKS_MOST || mib < 0 || limit < 1 || hz < 0) return 2;
  size_t len = (size_t)mib << 20;
  uint8_t *block =
      len == 0 ? NULL : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return 1;
  if (len > 0) madvise(block, len, MADV_NOHUGEPAGE); /* so that each page has an entry to copy */
  for (size_t i = 0; i < len; i += 4096) block[i] = (uint8_t)i;
  signal(SIGALRM, on_alarm);
  alarm((unsigned)limit);
  if (hz > 0 && arm((unsigned)hz) != 0) return 1;
  for (long i = 0; i < count; i++)
    if (fork_once(&took_us[i]) != 0) return 1;
  qsort(took_us, (size_t)count, sizeof took_us[0], by_time);
  printf("%ld forks, %u us the middle one, %u us the costliest, %d expiries\n", count,
         took_us[count / 2], took_us[count - 1], (int)expiries);
  return 0;
}
