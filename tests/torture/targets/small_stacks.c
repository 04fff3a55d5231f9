/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on the smallest stacks there are, with the CPU's widest vector registers in use (so that
   the kernel's signal frame is as large as it gets), and threads with an alternate stack.

     small_stacks min MS        stacks of PTHREAD_STACK_MIN
     small_stacks alt BYTES MS  PTHREAD_STACK_MIN, and an alternate stack of BYTES; 0: MINSIGSTKSZ
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { THREADS = 4, OLD_MINSIGSTKSZ = 2048, ROUNDS = 200000 };

static size_t alternate_bytes;
static double ms;
static const char *refused;

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Every vector register that there is holds something while the loop runs. */
static void burn(void) {
  uint64_t left = ROUNDS;
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    __asm__ volatile("vpternlogd $0xff, %%zmm31, %%zmm31, %%zmm31\n\t"
                     "vmovdqa64 %%zmm31, %%zmm7\n1:\tdec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(left)
                     :
                     : "cc");
  else
    __asm__ volatile("pcmpeqd %%xmm7, %%xmm7\n1:\tdec %0\n\tjnz 1b" : "+r"(left) : : "cc");
#else
  volatile double wide = 1;
  for (; left > 0; left--) wide *= 1.0000001;
#endif
}

static void *work(void *stack) {
  stack_t alternate = {.ss_sp = stack, .ss_size = alternate_bytes};
  if (alternate_bytes > 0 && sigaltstack(&alternate, NULL) != 0) refused = strerror(errno);
  for (double until = ms_now() + ms; ms_now() < until;) burn();
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, NULL);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  ms = strtod(argv[argc - 1], NULL);
  if (strcmp(argv[1], "alt") == 0) {
    alternate_bytes = strtoul(argv[2], NULL, 10);
    if (alternate_bytes == 0) alternate_bytes = OLD_MINSIGSTKSZ;
  }
  pthread_t threads[THREADS];
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  pthread_attr_setstacksize(&smallest, (size_t)PTHREAD_STACK_MIN);
  for (unsigned i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], &smallest, work, malloc(alternate_bytes + 1)) != 0) return 1;
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d small threads ended%s%s\n", THREADS,
         refused == NULL ? "" : "; alternate stack: ", refused == NULL ? "" : refused);
  return 0;
}
