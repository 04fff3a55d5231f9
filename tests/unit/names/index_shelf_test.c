/* SPDX-License-Identifier: Apache-2.0 */
/* Open indexes are many and bounded, and no sender takes the places of the others. */
#include "names/index_shelf.h"

#include "common/buf.h"
#include "symbol/index_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { HALF = INDEX_SHELF_MAX / 2, GREEDY = 7, OTHER = 8 };

static char path[] = "/tmp/index_shelf_test.XXXXXX";
static struct index_shelf *shelf;
static uint64_t sent; /* number of files, all different with the same index */

static int make_index(void **state) {
  (void)state;
  struct buf bytes = {0};
  struct index_summary summary;
  char why[256];
  struct span list = span_of_string("0000000000001000 T one_function\n");
  int fd = mkstemp(path);
  if (fd < 0 || index_builder_build(list, INDEX_ALL, &bytes, &summary, why, sizeof why) != 0)
    return -1;
  bool is_written = write(fd, bytes.data, bytes.len) == (ssize_t)bytes.len;
  close(fd);
  buf_fini(&bytes);
  return is_written ? 0 : -1;
}

static int remove_index(void **state) {
  (void)state;
  return unlink(path);
}

static int set_up(void **state) {
  (void)state;
  shelf = index_shelf_new();
  return shelf != NULL ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  index_shelf_free(shelf);
  return 0;
}

static struct debug_file next_file(uint32_t sender) {
  struct debug_file file = {.quality = DEBUG_MAP, .sender = sender};
  snprintf(file.index_path, sizeof file.index_path, "%s", path);
  sent++;
  memcpy(file.sha256, &sent, sizeof sent);
  return file;
}

/* Opens indexes of SENDER's until no more can be, MAX at most.  Returns how many. */
static unsigned open_all(uint32_t sender, unsigned max) {
  for (unsigned count = 0; count < max; count++) {
    const struct shelved_index *index = NULL;
    struct debug_file file = next_file(sender);
    int error = index_shelf_open(shelf, &file, &index);
    if (error == -EOVERFLOW) return count;
    assert_int_equal(error, 0);
    assert_ptr_equal(index_shelf_find(shelf, &file), index);
  }
  return max;
}

static void one_board_leaves_places_to_others(void **state) {
  (void)state;
  assert_int_equal(open_all(GREEDY, UINT32_MAX), HALF / 2);
  assert_int_equal(open_all(OTHER, UINT32_MAX), HALF / 4);
  assert_int_equal(open_all(GREEDY, UINT32_MAX), 0);
  assert_int_equal(open_all(INDEX_TEXTS_OPERATORS, UINT32_MAX), HALF);
  assert_true(open_all(OTHER + 1, UINT32_MAX) > 0);
}

static void all_boards_together_leave_operators_theirs(void **state) {
  (void)state;
  unsigned opened = 0;
  for (uint32_t sender = 1; sender < INDEX_TEXTS_SENDERS; sender++)
    opened += open_all(sender, UINT32_MAX);
  assert_in_range(opened, HALF * 9 / 10, HALF);
  assert_int_equal(open_all(INDEX_TEXTS_OPERATORS, UINT32_MAX), HALF);
}

static void what_is_open_is_found_though_there_is_no_room(void **state) {
  (void)state;
  const struct shelved_index *first = NULL, *again = NULL;
  struct debug_file file = next_file(GREEDY);
  assert_int_equal(index_shelf_open(shelf, &file, &first), 0);
  assert_int_equal(open_all(GREEDY, UINT32_MAX), HALF / 2 - 1);
  assert_int_equal(index_shelf_open(shelf, &file, &again), 0);
  assert_ptr_equal(first, again);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(one_board_leaves_places_to_others, set_up, tear_down),
      cmocka_unit_test_setup_teardown(all_boards_together_leave_operators_theirs, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(what_is_open_is_found_though_there_is_no_room, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, make_index, remove_index);
}
