/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 at random moments: every acked batch is stored, and none twice. */
#include "store_fixture.h"

#include "store/day_folder.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

enum { ROUNDS = 30, LARGEST_GROUP = 5, KILL_AFTER_US_MAX = 60000 };

static uint64_t start_of(uint64_t seq) {
  return NOON_MS + seq % 3 * DAY_MS + seq * 1000; /* three day files at once */
}

static size_t group_of(uint64_t seq) {
  return 1 + seq % LARGEST_GROUP;
}

/* A board that sends from FIRST on forever, and writes each group to ACKS once it is durable. */
static void send_for_ever(const char *dir, uint64_t first, int acks) {
  struct store *store = NULL;
  struct made_batch made[LARGEST_GROUP];
  struct store_append group[LARGEST_GROUP];
  char error[256];
  if (store_open(dir, &store, error, sizeof error) != 0) _exit(1);
  for (;;) {
    size_t count = group_of(first);
    for (size_t i = 0; i < count; i++) {
      make_batch(&made[i], 1, first + i);
      seal_batch(&made[i]);
      group[i] = append_of(&made[i], "b1", start_of(first + i));
    }
    if (store_append(store, group, count) != 0) _exit(2);
    first += count;
    if (write(acks, &first, sizeof first) != (ssize_t)sizeof first) _exit(3);
    for (size_t i = 0; i < count; i++) free_batch(&made[i]);
  }
}

/* Runs a board, kills it, and returns the first seq without an ack.  The random delay counts from
   the start, or from the first ack, however long a busy machine takes until then. */
static uint64_t run_and_kill(const char *dir, uint64_t first, bool is_acked) {
  int acks[2], status = 0;
  uint64_t next = first;
  assert_int_equal(pipe(acks), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    close(acks[0]);
    send_for_ever(dir, first, acks[1]);
  }
  close(acks[1]);
  if (is_acked) assert_int_equal(read(acks[0], &next, sizeof next), sizeof next);
  struct timespec delay = {.tv_nsec = rand() % KILL_AFTER_US_MAX * 1000L};
  nanosleep(&delay, NULL);
  kill(child, SIGKILL);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  while (read(acks[0], &next, sizeof next) == (ssize_t)sizeof next) {
  }
  close(acks[0]);
  return next;
}

/* Weight of the batches before END, as they were made. */
static uint64_t weight_before(uint64_t end) {
  struct made_batch made;
  uint64_t weight = 0;
  for (uint64_t seq = 1; seq < end; seq++) {
    make_batch(&made, 1, seq);
    weight += made.weight;
  }
  return weight;
}

static int keep_stored(void *context, const struct store_board *board) {
  *(uint64_t *)context = board->stored;
  return 0;
}

/* Opens the state after the kill. Returns the first missing seq, which is ACKED or, after a kill
   between commit and ack, one group later. */
static uint64_t check_survivor(const char *dir, uint64_t acked) {
  struct store *store = NULL;
  uint64_t stored = 0;
  char error[256];
  uint64_t last = 0;
  if (store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  assert_int_equal(store_last_seq(store, "b1", 1, &last), 0);
  assert_true(last + 1 == acked || last + 1 == acked + group_of(acked));
  struct sums sums = scan_all(store);
  assert_int_equal(sums.weight, weight_before(last + 1));
  assert_int_equal(store_boards(store, keep_stored, &stored), 0);
  assert_int_equal(stored, sums.count); /* the counters equal the answer */
  store_close(store);
  return last + 1;
}

static void killing_the_collector_anywhere_loses_and_doubles_nothing(void **state) {
  (void)state;
  char dir[] = "/tmp/torture_test.XXXXXX";
  uint64_t next = 1;
  assert_non_null(mkdtemp(dir));
  srand((unsigned)time(NULL));
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t acked = run_and_kill(dir, next, round % 4 < 2);
    uint64_t stored = check_survivor(dir, acked);
    next = round % 2 == 0 ? acked : stored; /* the board resends batches without an ack */
  }
  assert_true(next > ROUNDS / 2); /* something happened */
  print_message("%d kills, %llu batches\n", ROUNDS, (unsigned long long)next - 1);
  remove_dir(dir);
}

/* Kills again and again without looking in between, so that start-up itself is killed too. */
static void killing_start_up_as_well_changes_nothing(void **state) {
  (void)state;
  char dir[] = "/tmp/torture_test.XXXXXX";
  uint64_t next = 1;
  assert_non_null(mkdtemp(dir));
  for (int round = 0; round < ROUNDS; round++) next = run_and_kill(dir, next, false);
  check_survivor(dir, next);
  remove_dir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(killing_the_collector_anywhere_loses_and_doubles_nothing),
      cmocka_unit_test(killing_start_up_as_well_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
