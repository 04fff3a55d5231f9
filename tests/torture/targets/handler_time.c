/* SPDX-License-Identifier: Apache-2.0 */
/* The time of the agent's handler: this thread sends itself forged samples on a deep stack, and in
   turn the same signal with an unknown token, which the handler rejects at its first check. Its CPU
   time, which includes no other program, is read before and after. Both include the kernel's work
   around a signal and its interrupts, so the difference of the two is the sample's. In short rows
   with pauses, so that the ring is drained and no sample takes the short path of a full ring.

     handler_time COUNT DEPTH PERMILLE    prints the median of both, and the bound of PERMILLE of a
                                          thousand, in nanoseconds; without an agent it reports that
                                          there is nothing to time */
#include "forger.h"

#include <stdlib.h>
#include <time.h>

enum { ROW = 32, PAUSE_US = 10000, COUNT_MAX = 1000000 };

static int64_t *took[2]; /* of samples, of rejected signals */
static unsigned count;
static struct forger agent;

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static __attribute__((noinline)) void take_all(void) {
  static const int codes[2] = {SI_TIMER, SI_QUEUE};
  pid_t self = (pid_t)syscall(SYS_gettid);
  for (unsigned i = 0; i < 2 * count; i++) {
    if (i % ROW == 0) usleep(PAUSE_US);
    unsigned kind = (i + i / ROW) % 2; /* either begins every other row, with cold caches */
    int64_t start = now_ns();
    if (forger_send(self, agent.signal, codes[kind], agent.token) != 0) exit(3);
    took[kind][i / 2] = now_ns() - start;
  }
}

static __attribute__((noinline)) unsigned deeper(unsigned depth) {
  if (depth == 0) take_all();
  volatile unsigned frames = depth == 0 ? 0 : deeper(depth - 1);
  return frames + 1;
}

static int by_value(const void *a, const void *b) {
  int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
  return (left > right) - (left < right);
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  count = (unsigned)strtoul(argv[1], NULL, 10);
  unsigned permille = (unsigned)strtoul(argv[3], NULL, 10);
  if (count == 0 || count > COUNT_MAX || permille >= 1000) return 2;
  for (int i = 0; i < 2; i++) took[i] = calloc(count, sizeof *took[i]);
  if (took[0] == NULL || took[1] == NULL) return 1;
  agent = forger_look();
  if (agent.signal == 0) {
    puts("no agent");
    return 0;
  }
  deeper((unsigned)strtoul(argv[2], NULL, 10));
  for (int i = 0; i < 2; i++) {
    qsort(took[i], count, sizeof *took[i], by_value);
    printf("%lld %lld ", (long long)took[i][count / 2],
           (long long)took[i][(uint64_t)count * permille / 1000]);
    free(took[i]);
  }
  puts("");
  return 0;
}
