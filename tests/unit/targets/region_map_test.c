/* SPDX-License-Identifier: Apache-2.0 */
/* Both sides of a target's map of regions: the daemon's writes, and the entries that a handler may
   trust at each moment. */
#include "keeper/table_memory.h"
#include "targets/region_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 20000000, CHANGES = 5000, TABLES = 0x10000 };

struct fixture {
  int fd;
  struct unwind_map *map;    /* the daemon's */
  struct unwind_shared seen; /* the handler's */
  struct region_lists lists;
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  fixture->fd = region_map_make(true);
  fixture->map = region_map_open(fixture->fd);
  int reader = table_memory_reader(fixture->fd);
  void *seen = mmap(NULL, UNWIND_MAP_BYTES, PROT_READ, MAP_SHARED, reader, 0);
  close(reader);
  *state = fixture;
  fixture->seen = (struct unwind_shared){.map = seen, .tables = TABLES};
  return fixture->fd >= 0 && fixture->map != NULL && seen != MAP_FAILED ? 0 : -1;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  munmap((void *)(uintptr_t)fixture->seen.map, UNWIND_MAP_BYTES);
  region_map_close(fixture->map);
  close(fixture->fd);
  free(fixture);
  return 0;
}

/* COUNT regions of which all words are VALUE. */
static void fill(struct region_lists *lists, enum unwind_map_list list, uint32_t count,
                 uint64_t value) {
  lists->counts[list] = count;
  for (uint32_t i = 0; i < count; i++)
    lists->regions[list][i] = (struct unwind_region){value, value, value, value};
}

static bool begin(const struct fixture *fixture, uint32_t unloads, struct unwind_code *ret) {
  uint32_t serial;
  return unwind_map_begin(&fixture->seen, unloads, ret, &serial);
}

static void an_empty_map_is_none(void **state) {
  struct unwind_code code;
  assert_false(begin(*state, 0, &code));
}

static void what_was_put_is_seen(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  fill(&fixture->lists, UNWIND_MAP_ALL, 3, 7);
  fill(&fixture->lists, UNWIND_MAP_STEADY, 1, 5);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(begin(fixture, 0, &code));
  assert_int_equal(code.count, 3);
  assert_int_equal(code.regions[2].end, 7);
  assert_int_equal(code.tables, TABLES);
  assert_true(code.is_partial);
}

static void after_an_unloading_only_what_is_steady_is_believed(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  fixture->lists.unloads = 4;
  fill(&fixture->lists, UNWIND_MAP_ALL, 3, 7);
  fill(&fixture->lists, UNWIND_MAP_STEADY, 2, 5);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(begin(fixture, 4, &code));
  assert_int_equal(code.count, 3);
  assert_true(begin(fixture, 5, &code));
  assert_int_equal(code.count, 2);
  assert_int_equal(code.regions[1].start, 5);
  fixture->lists.counts[UNWIND_MAP_STEADY] = 0;
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_false(begin(fixture, 5, &code));
}

static void a_change_is_noticed(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  uint32_t serial;
  fill(&fixture->lists, UNWIND_MAP_ALL, 1, 7);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(unwind_map_begin(&fixture->seen, 0, &code, &serial));
  assert_true(unwind_map_holds(fixture->seen.map, serial));
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0); /* the same */
  assert_true(unwind_map_holds(fixture->seen.map, serial));
  fill(&fixture->lists, UNWIND_MAP_ALL, 1, 8);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_false(unwind_map_holds(fixture->seen.map, serial));
}

static void a_writer_that_died_is_mended_by_the_next(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  fill(&fixture->lists, UNWIND_MAP_ALL, 1, 7);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  atomic_fetch_add(&fixture->map->serial, 1);
  assert_false(begin(fixture, 0, &code));
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(begin(fixture, 0, &code));
}

static void a_number_beyond_the_room_is_not_believed(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  fixture->map->counts[UNWIND_MAP_ALL] = UNWIND_MAP_REGIONS_MAX + 1;
  assert_false(begin(fixture, 0, &code));
  fixture->map->counts[UNWIND_MAP_ALL] = UINT32_MAX;
  assert_false(begin(fixture, 0, &code));
}

static void a_full_map_is_whole(void **state) {
  struct fixture *fixture = *state;
  struct unwind_code code;
  fill(&fixture->lists, UNWIND_MAP_ALL, UNWIND_MAP_REGIONS_MAX, 3);
  fill(&fixture->lists, UNWIND_MAP_STEADY, UNWIND_MAP_REGIONS_MAX, 4);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(begin(fixture, 1, &code));
  assert_int_equal(code.count, UNWIND_MAP_REGIONS_MAX);
  assert_int_equal(code.regions[UNWIND_MAP_REGIONS_MAX - 1].table, 4);
}

static void what_was_there_is_remembered(void **state) {
  struct fixture *fixture = *state;
  fill(&fixture->lists, UNWIND_MAP_STEADY, 1, 9);
  assert_int_equal(region_map_put(fixture->map, fixture->fd, &fixture->lists), 0);
  assert_true(region_map_had(fixture->map, UNWIND_MAP_STEADY, 9, 9));
  assert_false(region_map_had(fixture->map, UNWIND_MAP_STEADY, 9, 10));
  assert_false(region_map_had(fixture->map, UNWIND_MAP_ALL, 9, 9));
}

static _Atomic int is_over;

static void *keep_changing(void *context) {
  struct fixture *fixture = context;
  for (uint64_t turn = 1; !is_over; turn++) {
    fill(&fixture->lists, UNWIND_MAP_ALL, 64, turn);
    if (region_map_put(fixture->map, fixture->fd, &fixture->lists) != 0) break;
  }
  return NULL;
}

static bool is_of_one_turn(const struct unwind_code *code) {
  const volatile struct unwind_region *regions = code->regions;
  uint64_t turn = regions[0].start;
  bool is_one = true;
  for (uint32_t i = 0; i < code->count; i++)
    is_one &= regions[i].start == turn && regions[i].end == turn && regions[i].address == turn &&
              regions[i].table == turn;
  return is_one;
}

static void a_torn_map_is_never_believed(void **state) {
  struct fixture *fixture = *state;
  pthread_t writer;
  unsigned changes = 0;
  uint64_t last = 0;
  is_over = 0;
  assert_int_equal(pthread_create(&writer, NULL, keep_changing, fixture), 0);
  for (unsigned i = 0; i < ROUNDS && changes < CHANGES; i++) {
    struct unwind_code code;
    uint32_t serial;
    if (!unwind_map_begin(&fixture->seen, 0, &code, &serial)) {
      if (i % 64 == 0) sched_yield();
      continue;
    }
    bool is_one = is_of_one_turn(&code);
    if (!unwind_map_holds(fixture->seen.map, serial)) continue;
    assert_true(is_one);
    changes += code.regions[0].start != last;
    last = code.regions[0].start;
  }
  is_over = 1;
  pthread_join(writer, NULL);
  assert_true(changes > 0);
}

static void nobody_else_can_write_it(void **state) {
  struct fixture *fixture = *state;
  int reader = table_memory_reader(fixture->fd);
  assert_true(reader >= 0);
  assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0), MAP_FAILED);
  void *seen = (void *)(uintptr_t)fixture->seen.map;
  assert_int_equal(mprotect(seen, 4096, PROT_READ | PROT_WRITE), -1);
  assert_int_equal(ftruncate(fixture->fd, 4096), -1);
  assert_int_equal(write(reader, "x", 1), -1);
  close(reader);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(an_empty_map_is_none),
      CLAIM(what_was_put_is_seen),
      CLAIM(after_an_unloading_only_what_is_steady_is_believed),
      CLAIM(a_change_is_noticed),
      CLAIM(a_writer_that_died_is_mended_by_the_next),
      CLAIM(a_number_beyond_the_room_is_not_believed),
      CLAIM(a_full_map_is_whole),
      CLAIM(what_was_there_is_remembered),
      CLAIM(a_torn_map_is_never_believed),
      CLAIM(nobody_else_can_write_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
