/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are nearly always inside a lock of libc or of the loader: malloc and free, dlopen
   and dlclose, dl_iterate_phdr, forced unwinding through frames with clean-ups (the path of a C++
   exception). A profiler whose handler takes one of those locks hangs here.

     frenzy SECONDS LIBRARY     LIBRARY is opened and closed; a watchdog ends with 1 after 5 s
   without progress of some thread */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 8, WATCHDOG_S = 5, BLOCKS = 64, DEPTH = 20 };

typedef void work_fn(void);

static _Atomic uint64_t rounds[THREADS];
static _Atomic int is_over;
static const char *library;
static _Atomic uint64_t seen;

static void allocate(void) {
  void *blocks[BLOCKS];
  for (size_t i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(16 + i * i * 40);
    if (blocks[i] != NULL) memset(blocks[i], (int)i, 16);
  }
  for (size_t i = 0; i < BLOCKS; i++) free(blocks[i]);
}

static void open_and_close(void) {
  void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    fprintf(stderr, "frenzy: %s\n", dlerror());
    exit(1);
  }
  dlclose(handle);
}

static int on_object(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  atomic_fetch_add(&seen, object->dlpi_phnum);
  return 0;
}

static void iterate(void) {
  dl_iterate_phdr(on_object, NULL);
}

static void cleaned(void *unused) {
  (void)unused;
  atomic_fetch_add(&seen, 1);
}

static void leave_now(void) {
  pthread_exit(NULL);
}
/* volatile: that it never returns makes the compiler call the recursion endless */
static void (*volatile leave)(void) = leave_now;

static __attribute__((noinline)) void unwind_from(int depth) {
  pthread_cleanup_push(cleaned, NULL);
  if (depth == 0)
    leave();
  else
    unwind_from(depth - 1);
  pthread_cleanup_pop(0);
}

static void *unwinds(void *unused) {
  unwind_from(DEPTH);
  return unused;
}

static void force_unwinding(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, unwinds, NULL) == 0) pthread_join(thread, NULL);
}

static work_fn *const works[THREADS] = {allocate,       allocate, allocate,        open_and_close,
                                        open_and_close, iterate,  force_unwinding, force_unwinding};

static void *loop(void *argument) {
  size_t me = (size_t)(uintptr_t)argument;
  while (!atomic_load(&is_over)) {
    works[me]();
    atomic_fetch_add(&rounds[me], 1);
  }
  return NULL;
}

static int watch(unsigned seconds) {
  uint64_t before[THREADS] = {0};
  unsigned still[THREADS] = {0};
  for (unsigned second = 0; second < seconds; second++) {
    sleep(1);
    for (size_t i = 0; i < THREADS; i++) {
      uint64_t now = atomic_load(&rounds[i]);
      still[i] = now == before[i] ? still[i] + 1 : 0;
      before[i] = now;
      if (still[i] < WATCHDOG_S) continue;
      printf("thread %zu made no step for %d s\n", i, WATCHDOG_S);
      return 1;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  library = argv[2];
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, loop, (void *)i) != 0) return 1;
  if (watch((unsigned)strtoul(argv[1], NULL, 10)) != 0) _exit(1);
  atomic_store(&is_over, 1);
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  printf("%d threads went on\n", THREADS);
  return 0;
}
