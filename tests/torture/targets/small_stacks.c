/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on the smallest stacks there are, with the CPU's widest vector registers in use (so that
   the kernel's signal frame is as large as it gets), and threads with an alternate stack.

     small_stacks min MS        stacks of PTHREAD_STACK_MIN
     small_stacks alt BYTES MS  PTHREAD_STACK_MIN, and an alternate stack of BYTES; 0: MINSIGSTKSZ;
                                least: what the kernel announces, as Rust's threads have it
     small_stacks tiles BYTES MS  the same on large stacks; once the threads run, the program asks
                                for AMX, whose state makes frames larger, and all of them use it */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, OLD_MINSIGSTKSZ = 2048, LEAST_BYTES = 8192, ROUNDS = 200000 };
enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };

static size_t alternate_bytes;
static double ms;
static const char *refused;
static _Atomic int begun, has_tiles;

static double ms_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int ask_for_tiles(void) {
#ifdef SYS_arch_prctl
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
  return 0;
#endif
}

/* One tile of 16 rows of 64 bytes holds zeros from here on; as bytes, for assemblers before AMX. */
static void use_tiles(void) {
#ifdef __x86_64__
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t columns[16];
    uint8_t rows[16];
  } plan = {.palette = 1, .columns = {64}, .rows = {16}};
  __asm__ volatile(".byte 0xc4, 0xe2, 0x78, 0x49, 0x00\n\t" /* ldtilecfg (%rax) */
                   ".byte 0xc4, 0xe2, 0x7b, 0x49, 0xc0"     /* tilezero %tmm0 */
                   :
                   : "a"(&plan), "m"(plan));
#endif
}

/* Every available vector register holds a value while the loop runs. */
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
  atomic_fetch_add(&begun, 1);
  for (double until = ms_now() + ms; ms_now() < until;) {
    burn();
    if (atomic_load(&has_tiles)) use_tiles();
  }
  alternate.ss_flags = SS_DISABLE;
  sigaltstack(&alternate, NULL);
  return NULL;
}

static size_t least_bytes(void) {
  size_t announced = getauxval(AT_MINSIGSTKSZ);
  return announced > LEAST_BYTES ? announced : LEAST_BYTES;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  ms = strtod(argv[argc - 1], NULL);
  int wants_tiles = strcmp(argv[1], "tiles") == 0;
  if (argc == 4) {
    alternate_bytes = strtoul(argv[2], NULL, 10);
    if (alternate_bytes == 0) alternate_bytes = OLD_MINSIGSTKSZ;
    if (strcmp(argv[2], "least") == 0) alternate_bytes = least_bytes();
  }
  pthread_t threads[THREADS];
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  if (!wants_tiles) pthread_attr_setstacksize(&smallest, (size_t)PTHREAD_STACK_MIN);
  for (unsigned i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], &smallest, work, malloc(alternate_bytes + 1)) != 0) return 1;
  while (wants_tiles && atomic_load(&begun) < THREADS) usleep(1000);
  if (wants_tiles) usleep(50000); /* some are sampled before */
  if (wants_tiles) atomic_store(&has_tiles, ask_for_tiles());
  for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d small threads ended%s%s\n", THREADS,
         refused == NULL ? "" : "; alternate stack: ", refused == NULL ? "" : refused);
  return 0;
}
