/* SPDX-License-Identifier: Apache-2.0 */
/* Memory freed by a thread is kept until the thread reports that it is idle. */
#include "common/heap.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BLOCKS = 80, BLOCK_BYTES = 256 << 10 }; /* 20 MiB */

static long resident_kib(void) {
  char line[128];
  long kib = -1;
  FILE *status = fopen("/proc/self/status", "r");
  assert_non_null(status);
  while (fgets(line, sizeof line, status) != NULL) sscanf(line, "RssAnon: %ld", &kib);
  fclose(status);
  assert_true(kib > 0);
  return kib;
}

/* Takes 20 MiB in blocks and frees them, with something that stays among them or behind them. */
static void use_memory(unsigned stays_at, void **kept) {
  static void *blocks[BLOCKS];
  for (unsigned i = 0; i < BLOCKS; i++) {
    blocks[i] = malloc(BLOCK_BYTES);
    assert_non_null(blocks[i]);
    memset(blocks[i], 1, BLOCK_BYTES);
    if (i == stays_at) assert_non_null(*kept = malloc(2000));
  }
  for (unsigned i = 0; i < BLOCKS; i++) free(blocks[i]);
}

static void *use_and_give_back(void *arg) {
  (void)arg;
  static const unsigned stays_at[] = {0, BLOCKS / 2, BLOCKS - 1};
  for (unsigned i = 0; i < sizeof stays_at / sizeof *stays_at; i++) {
    void *kept = NULL;
    long before = resident_kib();
    use_memory(stays_at[i], &kept);
    assert_true(resident_kib() > before + 15 * 1024);
    heap_give_back();
    assert_true(resident_kib() < before + 2 * 1024);
    free(kept);
  }
  return NULL;
}

static void what_is_kept_goes_back_when_its_thread_says_so(void **state) {
  (void)state;
  pthread_t thread;
  heap_keep();
  assert_int_equal(pthread_create(&thread, NULL, use_and_give_back, NULL), 0);
  pthread_join(thread, NULL);
  use_and_give_back(NULL); /* the first thread's heap is another kind */
}

int main(void) {
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
  return 0; /* their heap is another */
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_kept_goes_back_when_its_thread_says_so),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
