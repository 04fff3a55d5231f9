/* SPDX-License-Identifier: Apache-2.0 */
/* Idle readers hold no deleted file open, and see data that arrived while they were idle. */
#include "store_fixture.h"

#include "store/day_folder.h"
#include "store/day_pool.h"
#include "store/day_reader.h"
#include "store/tier_file.h"

#include "common/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>

enum { BEGUN = 40 }; /* files made while another thread reads: each is synced several times */

/* Counts the files below WORLD whose name contains PART and which this process has open; NAMES gets
 * their names. Inherited files, such as the caller's output, may be deleted as well, so only those
 * below WORLD count. */
static unsigned open_files(const struct world *world, const char *part, char names[PATH_MAX]) {
  unsigned count = 0;
  size_t dir_len = strlen(world->dir), len = 0;
  DIR *fds = opendir("/proc/self/fd");
  assert_non_null(fds);
  names[0] = '\0';
  for (struct dirent *entry; (entry = readdir(fds)) != NULL;) {
    char target[PATH_MAX];
    ssize_t target_len = readlinkat(dirfd(fds), entry->d_name, target, sizeof target - 1);
    if (target_len < 0) continue;
    target[target_len] = '\0';
    if (strncmp(target, world->dir, dir_len) != 0 || strstr(target, part) == NULL) continue;
    count++;
    if (len < PATH_MAX) len += (size_t)snprintf(names + len, PATH_MAX - len, " %s", target);
  }
  closedir(fds);
  return count;
}

static void assert_open(const struct world *world, const char *part) {
  char names[PATH_MAX];
  assert_true(open_files(world, part, names) > 0);
}

static void assert_closed(const struct world *world, const char *part) {
  char names[PATH_MAX];
  if (open_files(world, part, names) > 0) fail_msg("open of %s:%s", part, names);
}

/* Whether another process finds PATH locked. */
static bool is_locked(const char *path) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = open(path, O_RDWR | O_CLOEXEC);
    _exit(fd < 0 ? 2 : fcntl(fd, F_SETLK, &all) != 0);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
  return WEXITSTATUS(status) == 1;
}

/* Makes a file of hours with NODES nodes. */
static void make_file(const char *path, uint32_t nodes) {
  static const uint8_t key[SIPHASH_KEY_BYTES] = "0123456789abcdef";
  struct store_module module = {{(const uint8_t *)"\x01", 1}, "/bin/a", MODULE_ELF};
  struct store_node frames[8];
  uint32_t *map;
  struct arena arena;
  struct tier_file *file;
  for (uint32_t i = 0; i < nodes; i++) frames[i] = (struct store_node){BATCH_NONE, 0, i};
  const struct store_forest forest = {
      .node_count = nodes, .module_count = 1, .nodes = frames, .modules = &module};
  arena_init(&arena, 1 << 20);
  assert_int_equal(tier_file_open(path, key, 1, &file), 0);
  assert_int_equal(tier_file_map(file, &forest, &arena, &map), 0);
  assert_int_equal(tier_file_commit(file), 0);
  tier_file_close(file);
  arena_fini(&arena);
}

static struct day_pool *new_pool(void) {
  struct day_pool *pool = day_pool_new();
  assert_non_null(pool);
  return pool;
}

static uint32_t take_and_give(struct day_pool *pool, uint32_t day, const char *path) {
  const struct day_pool_key key = {day, DAY_HOURS};
  struct day_reader *reader;
  assert_int_equal(day_pool_take(pool, &key, path, &reader), 0);
  uint32_t count = day_reader_node_count(reader);
  day_pool_give(pool, &key, reader);
  return count;
}

static void a_reader_waits_and_sees_what_came_meanwhile(void **state) {
  struct world *world = *state;
  struct day_pool *pool = new_pool();
  char path[128];
  snprintf(path, sizeof path, "%s/pooled.db", world->dir);
  make_file(path, 3);
  assert_int_equal(take_and_give(pool, 7, path), 3);
  assert_open(world, "pooled.db");
  make_file(path, 5);
  assert_int_equal(take_and_give(pool, 7, path), 5);
  day_pool_free(pool);
  assert_closed(world, "pooled.db");
}

static void a_file_in_place_of_another_is_not_taken_for_it(void **state) {
  struct world *world = *state;
  struct day_pool *pool = new_pool();
  char path[128], other[128];
  snprintf(path, sizeof path, "%s/pooled.db", world->dir);
  snprintf(other, sizeof other, "%s/other.db", world->dir);
  make_file(path, 3);
  make_file(other, 4);
  assert_int_equal(take_and_give(pool, 7, path), 3);
  assert_int_equal(rename(other, path), 0);
  assert_int_equal(take_and_give(pool, 7, path), 4);
  assert_closed(world, "(deleted)");
  struct day_reader *none;
  assert_int_equal(unlink(path), 0);
  assert_int_equal(day_pool_take(pool, &(struct day_pool_key){7, DAY_HOURS}, path, &none), -ENOENT);
  day_pool_free(pool);
}

static void what_is_forgotten_is_closed_also_where_it_is_out(void **state) {
  struct world *world = *state;
  struct day_pool *pool = new_pool();
  const struct day_pool_key key = {7, DAY_HOURS};
  struct day_reader *out;
  char path[128];
  snprintf(path, sizeof path, "%s/pooled.db", world->dir);
  make_file(path, 3);
  assert_int_equal(day_pool_take(pool, &key, path, &out), 0);
  assert_int_equal(take_and_give(pool, 7, path), 3); /* a second one */
  day_pool_forget(pool, &key);
  day_pool_give(pool, &key, out);
  assert_closed(world, "pooled.db");
  day_pool_free(pool);
}

/* Otherwise a process that closes the file removes the WAL while others read it. */
static void a_file_that_is_made_again_stays_locked_by_its_readers(void **state) {
  struct world *world = *state;
  struct day_reader *reader;
  char path[128];
  snprintf(path, sizeof path, "%s/pooled.db", world->dir);
  make_file(path, 3);
  assert_false(is_locked(path));
  assert_int_equal(day_reader_open(path, DAY_HOURS, &reader), 0);
  assert_true(is_locked(path));
  make_file(path, 5);
  assert_true(is_locked(path));
  day_reader_close(reader);
  assert_false(is_locked(path));
}

static void no_more_wait_than_the_bound_and_the_last_stay(void **state) {
  struct world *world = *state;
  struct day_pool *pool = new_pool();
  char path[128];
  for (uint32_t day = 0; day < POOL_FILES_MAX + 5; day++) {
    snprintf(path, sizeof path, "%s/pooled-%u.db", world->dir, day);
    make_file(path, 3);
    assert_int_equal(take_and_give(pool, day, path), 3);
  }
  assert_closed(world, "/pooled-0.db");
  assert_closed(world, "/pooled-4.db");
  assert_open(world, "/pooled-5.db");
  day_pool_free(pool);
}

static void a_large_map_is_not_kept_while_a_reader_waits(void **state) {
  struct world *world = *state;
  struct day_reader *reader;
  char path[128];
  snprintf(path, sizeof path, "%s/pooled.db", world->dir);
  make_file(path, 3);
  assert_int_equal(day_reader_open(path, DAY_HOURS, &reader), 0);
  day_reader_take_map(reader, calloc(3, sizeof(uint32_t)), 9);
  assert_int_equal(day_reader_rest(reader, 3), 0);
  assert_int_equal(day_reader_wake(reader, path), 0);
  assert_false(day_reader_use_map(reader, 8)); /* other numbers */
  assert_true(day_reader_use_map(reader, 9));
  assert_int_equal(day_reader_rest(reader, 2), 0);
  assert_int_equal(day_reader_wake(reader, path), 0);
  assert_false(day_reader_use_map(reader, 9));
  day_reader_close(reader);
}

static void *make_files(void *context) {
  struct world *world = context;
  for (uint32_t i = 0; i < BEGUN; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/begun-%u.db", world->dir, i);
    make_file(path, 3);
  }
  return NULL;
}

/* An unfinished file counts as none, and its maker is not disturbed. */
static void a_file_is_looked_at_while_it_is_made(void **state) {
  struct world *world = *state;
  pthread_t maker;
  unsigned early = 0;
  assert_int_equal(pthread_create(&maker, NULL, make_files, world), 0);
  for (uint32_t i = 0; i < BEGUN; early++) {
    struct day_reader *reader = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s/begun-%u.db", world->dir, i);
    while (access(path, F_OK) != 0) sched_yield(); /* lets the maker run */
    int error = day_reader_open(path, DAY_HOURS, &reader);
    if (error != 0 && error != -ENOENT) fail_msg("%s: %s", path, strerror(-error));
    i += error == 0;
    day_reader_close(reader);
  }
  pthread_join(maker, NULL);
  print_message("looked at %u times too early\n", early - BEGUN);
}

/* ---- in a store ---- */

static uint64_t sum_of_all(struct store *store) {
  struct sums sums = {0};
  const struct store_scan scan = {.to_ms = UINT64_MAX,
                                  .types = SAMPLE_SET_CPU,
                                  .matches = want_all,
                                  .on_block = add_block,
                                  .context = &sums};
  assert_int_equal(store_scan(store, &scan), 0);
  return sums.weight;
}

static uint64_t append(struct world *world, uint64_t seq, uint64_t shift) {
  struct made_batch made;
  make_batch(&made, 1, seq);
  for (uint32_t i = 0; i < FIXTURE_NODES; i++) made.nodes[i].address += shift;
  uint64_t weight = made.weight;
  seal_batch(&made);
  struct store_append row = append_of(&made, "b1", NOON_MS + seq * 10000);
  assert_int_equal(store_append(world->store, &row, 1), 0);
  free_batch(&made);
  return weight;
}

static void a_day_that_grows_between_questions_is_read_whole(void **state) {
  struct world *world = *state;
  uint64_t weight = append(world, 1, 0);
  assert_int_equal(sum_of_all(world->store), weight);
  weight += append(world, 2, 0x10000); /* stacks that are new */
  assert_int_equal(sum_of_all(world->store), weight);
  assert_int_equal(sum_of_all(world->store), weight);
}

static void a_deleted_day_is_held_by_nobody_and_may_begin_anew(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {.windows_ms = UINT64_MAX / 2,
                                  .minutes_ms = UINT64_MAX / 2,
                                  .hours_ms = UINT64_MAX / 2,
                                  .days_ms = UINT64_MAX / 2};
  append(world, 1, 0);
  assert_int_equal(store_roll(world->store), 0);
  assert_true(sum_of_all(world->store) > 0);
  assert_int_equal(store_retain(world->store, &keep), 0);
  assert_closed(world, "(deleted)");
  assert_closed(world, "/hours-");
  assert_int_equal(sum_of_all(world->store), 0);
  uint64_t weight = append(world, 2, 0x20000);
  assert_int_equal(sum_of_all(world->store), weight);
}

static void hours_alone_are_read_after_those_beside_them_went(void **state) {
  struct world *world = *state;
  const struct store_keep keep = {
      .windows_ms = UINT64_MAX / 2, .minutes_ms = UINT64_MAX / 2, .hours_ms = UINT64_MAX / 2};
  uint64_t weight = append(world, 1, 0);
  assert_int_equal(store_roll(world->store), 0);
  assert_int_equal(sum_of_all(world->store), weight);
  assert_int_equal(store_retain(world->store, &keep), 0); /* rewrites the file of hours */
  assert_int_equal(sum_of_all(world->store), weight);
  assert_closed(world, "(deleted)");
}

static void summing_up_leaves_no_wal_though_a_reader_waits(void **state) {
  struct world *world = *state;
  char wal[DAY_PATH_BYTES + 8], path[DAY_PATH_BYTES];
  uint64_t weight = 0;
  for (uint64_t seq = 1; seq < 4; seq++) {
    weight += append(world, seq, seq << 16);
    assert_int_equal(sum_of_all(world->store), weight);
    assert_int_equal(store_roll(world->store), 0);
    assert_int_equal(day_folder_path(world->dir, DAY_HOURS, day_of(NOON_MS), path), 0);
    snprintf(wal, sizeof wal, "%s-wal", path);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(access(wal, F_OK), -1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_reader_waits_and_sees_what_came_meanwhile),
      TEST(a_file_in_place_of_another_is_not_taken_for_it),
      TEST(what_is_forgotten_is_closed_also_where_it_is_out),
      TEST(a_file_that_is_made_again_stays_locked_by_its_readers),
      TEST(no_more_wait_than_the_bound_and_the_last_stay),
      TEST(a_large_map_is_not_kept_while_a_reader_waits),
      TEST(a_file_is_looked_at_while_it_is_made),
      TEST(a_day_that_grows_between_questions_is_read_whole),
      TEST(a_deleted_day_is_held_by_nobody_and_may_begin_anew),
      TEST(hours_alone_are_read_after_those_beside_them_went),
      TEST(summing_up_leaves_no_wal_though_a_reader_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
