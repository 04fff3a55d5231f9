/* SPDX-License-Identifier: Apache-2.0 */
/* Files that a target accepts as a ring: only files that cannot be truncated meanwhile. */
#include "preload/ring_map.h"
#include "ring/histogram_layout.h"
#include "ring/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct ring_terms terms = {.period_ns = 10000000, .signal = 61};
static struct histogram_shape shape;
static char path[64];

static int setup(void **state) {
  (void)state;
  shape = (struct histogram_shape){0};
  strncpy(path, "/tmp/fleetprof-ring-map.XXXXXX", sizeof path - 1);
  histogram_shape_fit(&shape, 4096, 1);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

/* A histogram's ring in FD, with blocks under it when IS_WHOLE. */
static void fill(int fd, bool is_whole) {
  size_t size = histogram_total_bytes(&shape);
  assert_int_equal(ftruncate(fd, (off_t)size), 0);
  if (is_whole) assert_int_equal(posix_fallocate(fd, 0, (off_t)size), 0);
  void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_ptr_not_equal(base, MAP_FAILED);
  histogram_init(base, &shape, &terms);
  munmap(base, size);
}

static int make_file(bool is_whole) {
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  fill(fd, is_whole);
  return fd;
}

static int map(int fd) {
  struct ring_writer writer;
  struct ring_terms seen;
  int error = ring_map(fd, &writer, &seen);
  if (error == 0) munmap(writer.base, histogram_total_bytes(&shape));
  return error;
}

static void a_sealed_memfd_is_taken(void **state) {
  (void)state;
  int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  fill(fd, true);
  assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  assert_int_equal(map(fd), 0);
  close(fd);
}

/* The kernel's flags of the mapping at BASE contain FLAG. */
static bool has_flag(const void *base, const char *flag) {
  char line[512], begin[32];
  bool is_it = false, has = false;
  snprintf(begin, sizeof begin, "%lx-", (unsigned long)base);
  FILE *smaps = fopen("/proc/self/smaps", "re");
  assert_non_null(smaps);
  while (fgets(line, sizeof line, smaps) != NULL) {
    if (strncmp(line, begin, strlen(begin)) == 0) is_it = true;
    if (!is_it || strncmp(line, "VmFlags:", 8) != 0) continue;
    has = strstr(line, flag) != NULL;
    break;
  }
  fclose(smaps);
  return has;
}

static void a_ring_is_no_part_of_a_core_file(void **state) {
  (void)state;
  struct ring_writer writer;
  struct ring_terms seen;
  int fd = make_file(true);
  assert_int_equal(ring_map(fd, &writer, &seen), 0);
  assert_true(has_flag(writer.base, " dd "));
  munmap(writer.base, histogram_total_bytes(&shape));
  close(fd);
}

static void a_whole_file_that_nobody_else_may_write_is_taken(void **state) {
  (void)state;
  int fd = make_file(true);
  assert_int_equal(map(fd), 0);
  assert_int_equal(fchmod(fd, 0644), 0);
  assert_int_equal(map(fd), 0);
  close(fd);
}

static void a_file_that_others_may_write_is_refused(void **state) {
  (void)state;
  int fd = make_file(true);
  assert_int_equal(fchmod(fd, 0620), 0);
  assert_int_equal(map(fd), -EPERM);
  assert_int_equal(fchmod(fd, 0602), 0);
  assert_int_equal(map(fd), -EPERM);
  close(fd);
}

static void a_file_with_holes_is_refused(void **state) {
  (void)state;
  int fd = make_file(false);
  assert_int_equal(map(fd), -EPERM);
  close(fd);
}

static void a_file_of_another_user_is_refused(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  int fd = make_file(true);
  assert_int_equal(fchown(fd, 65534, 65534), 0);
  assert_int_equal(map(fd), -EPERM);
  close(fd);
}

static void a_ring_of_stacks_is_never_a_file(void **state) {
  (void)state;
  int fd = mkstemp(path);
  struct ring_reader ring = {.slot_count = 1, .slot_bytes = RING_SLOT_BYTES_MIN};
  size_t size = ring_total_bytes(1, RING_SLOT_BYTES_MIN);
  assert_int_equal(posix_fallocate(fd, 0, (off_t)size), 0);
  ring.base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ring_init(&ring, &terms);
  assert_int_equal(map(fd), -EPERM);
  munmap(ring.base, size);
  close(fd);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_sealed_memfd_is_taken),
      CLAIM(a_ring_is_no_part_of_a_core_file),
      CLAIM(a_whole_file_that_nobody_else_may_write_is_taken),
      CLAIM(a_file_that_others_may_write_is_refused),
      CLAIM(a_file_with_holes_is_refused),
      CLAIM(a_file_of_another_user_is_refused),
      CLAIM(a_ring_of_stacks_is_never_a_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
