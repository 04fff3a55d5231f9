/* SPDX-License-Identifier: Apache-2.0 */
/* Forks repeatedly. Each child works a little and ends with its own exit status; one in four forks
   too, and one in eight ends by a signal.

     forks [COUNT]     prints the sum of the children's statuses, which is known in advance */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 12000000, STATUSES = 5 };

static volatile uint64_t sink;

static unsigned expected(unsigned number) {
  return number % 8 == 7 ? 128 + SIGUSR1 : number % STATUSES;
}

static void be_child(unsigned number) {
  for (uint64_t i = 0; i < ROUNDS; i++) sink += i;
  if (number % 4 == 1) {
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(0);
    waitpid(grandchild, NULL, 0);
  }
  if (number % 8 == 7) raise(SIGUSR1);
  _exit((int)(number % STATUSES));
}

static unsigned run(unsigned number) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) be_child(number);
  if (child < 0 || waitpid(child, &status, 0) != child) return 1000;
  return WIFSIGNALED(status) ? 128U + (unsigned)WTERMSIG(status) : (unsigned)WEXITSTATUS(status);
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
  unsigned sum = 0, wanted = 0;
  for (unsigned i = 0; i < count; i++) {
    sum += run(i);
    wanted += expected(i);
  }
  printf("%u children said %u\n", count, sum);
  return sum == wanted ? 0 : 1;
}
