/* SPDX-License-Identifier: Apache-2.0 */
/* The table memory that an agent receives for walking stacks: mapped whole and read-only, or not at
   all. */
#include "preload/table_map.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, TABLES_BYTES = 8192 };

static int memory(size_t bytes, int seals) {
  int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  assert_true(fd >= 0);
  assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
  if (seals != 0) assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

/* A map with MAGIC and VERSION. */
static int map_of(uint32_t magic, uint32_t version) {
  const uint32_t head[2] = {magic, version};
  int fd = memory(UNWIND_MAP_BYTES, 0);
  assert_int_equal(pwrite(fd, head, sizeof head, 0), sizeof head);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, SEALS), 0);
  return fd;
}

static int try(int map, int tables, struct unwind_shared *ret) {
  int error = table_map(map, tables, ret);
  close(map);
  close(tables);
  return error;
}

static void both_are_mapped_read_only(void **state) {
  (void)state;
  struct unwind_shared shared = {.map = NULL};
  int map = map_of(UNWIND_MAP_MAGIC, UNWIND_MAP_VERSION), tables = memory(TABLES_BYTES, SEALS);
  assert_int_equal(pwrite(tables, "table", 5, 4096), 5);
  assert_int_equal(try(map, tables, &shared), 0);
  assert_int_equal(shared.map->magic, UNWIND_MAP_MAGIC);
  assert_memory_equal((const void *)(shared.tables + 4096), "table", 5);
  munmap((void *)(uintptr_t)shared.map, UNWIND_MAP_BYTES);
  munmap((void *)shared.tables, TABLES_BYTES);
}

static void memory_that_can_shrink_is_refused(void **state) {
  (void)state;
  struct unwind_shared shared = {.map = NULL};
  assert_int_equal(try(map_of(UNWIND_MAP_MAGIC, 1), memory(TABLES_BYTES, 0), &shared), -EPERM);
  assert_int_equal(
      try(memory(UNWIND_MAP_BYTES, F_SEAL_SHRINK), memory(TABLES_BYTES, SEALS), &shared), -EPERM);
  assert_null(shared.map);
}

static void a_program_with_little_address_space_keeps_it(void **state) {
  (void)state;
  struct unwind_shared shared = {.map = NULL};
  struct rlimit before, little = {.rlim_cur = 31 << 20}; /* more than this program has */
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  little.rlim_max = before.rlim_max;
  int map = map_of(UNWIND_MAP_MAGIC, UNWIND_MAP_VERSION), tables = memory(2 << 20, SEALS);
  assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
  int error = try(map, tables, &shared);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(error, -ENOMEM);
  assert_null(shared.map);
}

static void another_size_magic_or_version_is_refused(void **state) {
  (void)state;
  struct unwind_shared shared = {.map = NULL};
  assert_int_equal(try(memory(4096, SEALS), memory(TABLES_BYTES, SEALS), &shared), -EBADMSG);
  assert_int_equal(try(map_of(UNWIND_MAP_MAGIC, 1), memory(0, SEALS), &shared), -EBADMSG);
  assert_int_equal(
      try(map_of(UNWIND_MAP_MAGIC, 1), memory(UNWIND_TABLES_BYTES_MAX + 1, SEALS), &shared),
      -EBADMSG);
  assert_int_equal(try(map_of(1, 1), memory(TABLES_BYTES, SEALS), &shared), -EBADMSG);
  assert_int_equal(
      try(map_of(UNWIND_MAP_MAGIC, UNWIND_MAP_VERSION + 1), memory(TABLES_BYTES, SEALS), &shared),
      -EPROTO);
  assert_null(shared.map);
}

static void what_is_no_memory_is_refused(void **state) {
  (void)state;
  struct unwind_shared shared = {.map = NULL};
  int pipes[2];
  assert_int_equal(pipe(pipes), 0);
  assert_true(try(pipes[0], pipes[1], &shared) < 0);
  assert_true(table_map(-1, -1, &shared) < 0);
  assert_null(shared.map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_are_mapped_read_only),
      cmocka_unit_test(a_program_with_little_address_space_keeps_it),
      cmocka_unit_test(memory_that_can_shrink_is_refused),
      cmocka_unit_test(another_size_magic_or_version_is_refused),
      cmocka_unit_test(what_is_no_memory_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
