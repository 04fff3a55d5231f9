/* SPDX-License-Identifier: Apache-2.0 */
/* The store with its first allocation failing, then its second, and so on until none is left to
   fail. This includes SQLite's, in the calling thread and in the settling one. A failed operation
   returns -ENOMEM or refuses the batch, never does half, and the next attempt finds the state
   unchanged. */
#include "allocations_fail.h"
#include "disk_model_fixture.h"
#include "store_fixture.h"

#include "common/clock.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>

enum {
  ATTEMPTS_MAX = 20000,
  SETTLING_SHORT = 4, /* each takes the second that settling waits after a failed round */
  START_STRIDE = 17,
  SETTLING_STRIDE = 5,
  WAIT_MS = 60000,
};

static sqlite3_mem_methods memory;

static void *sqlite_malloc(int len) {
  return is_failing() ? NULL : memory.xMalloc(len);
}

static void *sqlite_realloc(void *old, int len) {
  return is_failing() ? NULL : memory.xRealloc(old, len);
}

static uint64_t stored_weight, stored_seq;

static enum store_outcome append_next(struct store *store, struct made_batch *made) {
  struct store_append append = append_of(made, "b1", NOON_MS + made->envelope.seq * 1000);
  int error = store_append(store, &append, 1);
  assert_true((error == 0) == (append.outcome != STORE_FAILED));
  return append.outcome;
}

static int scan(struct store *store, struct sums *sums) {
  const struct store_scan wish = {.to_ms = UINT64_MAX,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = sums};
  *sums = (struct sums){0};
  return store_scan(store, &wish);
}

static void assert_all_is_there(struct store *store) {
  uint64_t until_ns = clock_monotonic_ns() + WAIT_MS * NS_PER_MS;
  struct sums sums;
  while (scan(store, &sums) != 0 || sums.weight < stored_weight) { /* it may lack the last batch */
    if (clock_monotonic_ns() > until_ns) fail_msg("it does not settle");
    usleep(50000);
  }
  assert_int_equal(sums.weight, stored_weight);
  assert_books_close(store, "b1");
}

static void prepare(struct made_batch *made) {
  make_batch(made, 1, ++stored_seq);
  seal_batch(made);
  stored_weight += made->weight;
}

static void every_append_survives_every_failing_allocation(void **state) {
  struct world *world = *state;
  unsigned n = 1, refused = 0;
  stored_weight = stored_seq = 0;
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n++) {
    struct made_batch made;
    prepare(&made);
    allocations_fail_at(n);
    enum store_outcome outcome = append_next(world->store, &made);
    has_failed = allocations_fail_at(0);
    refused += outcome == STORE_FAILED;
    if (outcome == STORE_FAILED) outcome = append_next(world->store, &made);
    assert_int_equal(outcome, STORE_STORED);
    free_batch(&made);
  }
  print_message("%u allocations failed, %u appends were refused\n", n - 2, refused);
  assert_true(refused > 3);
  assert_all_is_there(world->store);
}

static void every_query_survives_every_failing_allocation(void **state) {
  struct world *world = *state;
  unsigned n = 1, refused = 0;
  stored_weight = stored_seq = 0;
  for (int i = 0; i < 3; i++) {
    struct made_batch made;
    prepare(&made);
    assert_int_equal(append_next(world->store, &made), STORE_STORED);
    free_batch(&made);
  }
  assert_all_is_there(world->store);
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n++) {
    struct sums sums;
    allocations_fail_at(n);
    int error = scan(world->store, &sums);
    has_failed = allocations_fail_at(0);
    refused += error != 0;
    if (error == 0) assert_int_equal(sums.weight, stored_weight);
    if (error != 0) assert_int_equal(error, -ENOMEM);
  }
  print_message("%u allocations failed, %u queries were refused\n", n - 2, refused);
  assert_true(refused > 10);
  assert_all_is_there(world->store); /* no file was treated as damaged */
}

static void settling_survives_failing_allocations(void **state) {
  struct world *world = *state;
  bool is_long = getenv("TORTURE_LONG") != NULL;
  unsigned failed = 0;
  stored_weight = stored_seq = 0;
  for (unsigned i = 0; is_long || i < SETTLING_SHORT; i++) {
    struct made_batch made;
    prepare(&made);
    allocations_fail_elsewhere_at(1 + i * (is_long ? 1 : SETTLING_STRIDE));
    assert_int_equal(append_next(world->store, &made), STORE_STORED);
    free_batch(&made);
    struct sums sums;
    scan(world->store, &sums); /* waits for that round */
    bool has_failed = allocations_fail_elsewhere_at(0);
    failed += has_failed;
    assert_all_is_there(world->store);
    if (!has_failed) break;
  }
  print_message("%u allocations failed\n", failed);
  assert_true(failed > 2);
}

static void a_start_survives_every_failing_allocation(void **state) {
  struct world *world = *state;
  unsigned n = 1, refused = 0;
  stored_weight = stored_seq = 0;
  unsigned stride = getenv("TORTURE_LONG") != NULL ? 1 : START_STRIDE;
  for (bool has_failed = true; has_failed && n < ATTEMPTS_MAX; n += stride) {
    struct store *store = NULL;
    char error[256] = "";
    struct made_batch made;
    prepare(&made);
    assert_int_equal(append_next(world->store, &made), STORE_STORED);
    free_batch(&made);
    store_close(world->store); /* the rest settles at the start */
    allocations_fail_at(n);
    int result = store_open(world->dir, &store, error, sizeof error);
    has_failed = allocations_fail_at(0);
    refused += result != 0;
    if (result == 0) store_close(store);
    if (result != 0 && error[0] == '\0') fail_msg("allocation %u failing says nothing", n);
    open_store(world);
  }
  print_message("up to allocation %u, %u starts were refused\n", n - stride, refused);
  assert_true(refused > 10);
  assert_all_is_there(world->store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(every_append_survives_every_failing_allocation),
      TEST(every_query_survives_every_failing_allocation),
      TEST(settling_survives_failing_allocations),
      TEST(a_start_survives_every_failing_allocation),
  };
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory);
  sqlite3_mem_methods failing = memory;
  failing.xMalloc = sqlite_malloc;
  failing.xRealloc = sqlite_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
  disk_install(); /* flushes are not needed here */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
