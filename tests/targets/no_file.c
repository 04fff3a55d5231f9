/* SPDX-License-Identifier: Apache-2.0 */
/* no_file HOW SECONDS [FILE]: burns CPU time in first_work and half as much in second_work, after
   the path to the code has become invalid:

     memfd      the program runs from memory      unlink     its file is deleted
     replace    FILE stands in its file's place   mremap     its text lies in anonymous memory
     copy       its text lies in a memfd          plain      nothing changes */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

static void spin(long count) {
  unsigned long x = sink;
  while (count-- > 0) x = x * 2862933555777941757UL + 3037000493UL;
  sink = x;
}

NOINLINE void first_work(long count);
NOINLINE void second_work(long count);

void first_work(long count) {
  spin(2 * count);
  __asm__ volatile("");
}

void second_work(long count) {
  spin(count);
  __asm__ volatile("");
}

/* The length varies: constant rounds could be in step with the kernel's tick at some CPU speed. */
static long next_count(void) {
  static uint64_t x = 88172645463325252U;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return 100000 + (long)(x % 1500000);
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void run_from_memory(char **arguments) {
  char bytes[65536];
  int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("payload", MFD_CLOEXEC);
  for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
    if (write(to, bytes, (size_t)got) != got) exit(1);
  close(from);
  char plain[] = "plain", *next[] = {arguments[0], plain, arguments[2], NULL};
  fexecve(to, next, environ);
  exit(1);
}

/* The pages of the text but the first and the last, which the linker may share. */
static void move_text(int is_memfd) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
  uint8_t *at = (uint8_t *)((uintptr_t)first_work & ~page), *copy;
  size_t len = page + 1;
  int fd = is_memfd ? memfd_create("text", MFD_CLOEXEC) : -1;
  if (is_memfd) {
    if (write(fd, at, len) != (ssize_t)len) exit(1);
    if (mmap(at, len, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) exit(1);
    return;
  }
  copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) exit(1);
  memcpy(copy, at, len);
  if (mprotect(copy, len, PROT_READ | PROT_EXEC) != 0) exit(1);
  if (mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, at) == MAP_FAILED) exit(1);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  const char *how = argv[1];
  double until = strtod(argv[2], NULL);
  char self[4096];
  ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
  self[len > 0 ? len : 0] = '\0';
  if (strcmp(how, "memfd") == 0) run_from_memory(argv);
  if (strcmp(how, "mremap") == 0 || strcmp(how, "copy") == 0) move_text(how[0] == 'c');
  for (int has_acted = 0; cpu_seconds() < until;) {
    long count = next_count();
    first_work(count);
    second_work(count);
    if (has_acted || cpu_seconds() < until / 4) continue;
    has_acted = 1;
    if (strcmp(how, "unlink") == 0 && unlink(self) != 0) return 1;
    if (strcmp(how, "replace") == 0 && argc > 3 && rename(argv[3], self) != 0) return 1;
  }
  return 0;
}
