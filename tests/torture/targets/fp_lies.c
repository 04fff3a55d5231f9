/* SPDX-License-Identifier: Apache-2.0 */
/* Burns CPU with wrong values in the frame-pointer register: a guard page, a cycle of two frames,
   the very top of the stack, an odd address, a kernel address, 0, the stack pointer itself, one
   word below the end of the address space. A careless walker faults here.

     fp_lies MS     of each lie, in the main thread and in one more */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LIES = 9, ROUNDS = 2000000 };

static uint64_t burn_with(uintptr_t frame) {
  uint64_t left = ROUNDS;
#if defined(__x86_64__)
  __asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n1:\tdec %0\n\tjnz 1b\n\tpop %%rbp"
                   : "+a"(left)
                   : "D"(frame)
                   : "cc", "memory");
#elif defined(__aarch64__)
  __asm__ volatile("mov x9, x29\n\tmov x29, %1\n1:\tsubs %0, %0, #1\n\tb.ne 1b\n\tmov x29, x9"
                   : "+r"(left)
                   : "r"(frame)
                   : "x9", "cc", "memory");
#else
#error "which register is the frame pointer here?"
#endif
  return left;
}

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void *lie(void *argument) {
  double ms = *(double *)argument;
  uint8_t *guard = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  /* volatile: read only by a walker */
  volatile uintptr_t cycle[4] = {0, 0x1234, 0, 0x5678};
  cycle[0] = (uintptr_t)&cycle[2];
  cycle[2] = (uintptr_t)&cycle[0];
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  const uintptr_t lies[LIES] = {(uintptr_t)guard + 4096 - 8,
                                (uintptr_t)&cycle[0],
                                (getauxval(AT_RANDOM) | 0xfff) - 7, /* the last word of a page */
                                here + 3,
                                0xffff800000001000,
                                0,
                                here - 256,
                                UINTPTR_MAX - 7,
                                here + (64 << 20)};
  for (unsigned i = 0; i < LIES; i++)
    for (double until = ms_now() + ms; ms_now() < until;)
      if (burn_with(lies[i]) != 0) abort();
  munmap(guard, 8192);
  return NULL;
}

int main(int argc, char **argv) {
  double ms = argc > 1 ? strtod(argv[1], NULL) : 100;
  pthread_t thread;
  pthread_create(&thread, NULL, lie, &ms);
  lie(&ms);
  pthread_join(thread, NULL);
  printf("%d lies were told\n", LIES);
  return 0;
}
