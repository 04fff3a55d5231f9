/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and addresses stay together, in any order of reading. */
#include "profile_fixture.h"

#include "report/counts.h"
#include "report/two_pipes.h"

#include <pthread.h>
#include <string.h>

static void fill(struct profile *profile) {
  const struct batch_module tool = {span_of("\xab", 1), "/opt/tool", 1, MODULE_ELF};
  const struct batch_module other = {span_of("\xcd", 1), "/opt/other", 1, MODULE_ELF};
  assert_int_equal(profile_init(profile), 0);
  assert_int_equal(profile_add_leaf(profile, &tool, 0x200, 7, 70), 0);
  assert_int_equal(profile_add_leaf(profile, &other, 0x300, 1, 10), 0);
  assert_int_equal(profile_add_leaf(profile, &tool, 0x100, 5, 50), 0);
  assert_int_equal(profile_add_leaf(profile, &tool, 0x200, 1, 10), 0);
}

static void counts_come_by_module_and_address(void **state) {
  struct profile profile;
  struct buf all = {0}, counts = {0}, pcs = {0};
  (void)state;
  fill(&profile);
  assert_int_equal(counts_print(&profile, COUNTS_ALL, &all), 0);
  assert_string_equal(buf_text(&all),
                      "# /opt/tool ab\n5 0x100\n8 0x200\n# /opt/other cd\n1 0x300\n");
  uint32_t module = counts_find_module(&profile, "tool");
  assert_int_equal(module, counts_find_module(&profile, "/opt/tool"));
  assert_int_equal(counts_find_module(&profile, "nosuch"), BATCH_NONE);
  assert_int_equal(counts_find_module(&profile, NULL), BATCH_NONE); /* no target was announced */
  assert_int_equal(counts_print_columns(&profile, module, &counts, &pcs), 0);
  assert_string_equal(buf_text(&counts), "5\n8\n");
  assert_string_equal(buf_text(&pcs), "0x100\n0x200\n");
  buf_fini(&all);
  buf_fini(&counts);
  buf_fini(&pcs);
  profile_fini(&profile);
}

enum { MEGABYTE = 1 << 20 };

struct reader {
  int first, second; /* the second is read when the first has ended */
};

static size_t read_to_end(int fd) {
  static char bytes[65536];
  size_t total = 0;
  for (ssize_t got; (got = read(fd, bytes, sizeof bytes)) > 0;) total += (size_t)got;
  return total;
}

static void *read_in_order(void *context) {
  const struct reader *reader = context;
  size_t total = read_to_end(reader->first);
  total += read_to_end(reader->second);
  return (void *)(uintptr_t)total;
}

static void neither_pipe_waits_for_the_other(void **state) {
  static uint8_t bytes[MEGABYTE];
  (void)state;
  for (int order = 0; order < 2; order++) {
    int a[2], b[2];
    pthread_t thread;
    void *total;
    assert_int_equal(pipe(a) + pipe(b), 0);
    struct reader reader = {order ? a[0] : b[0], order ? b[0] : a[0]};
    struct pipe_end ends[2] = {{a[1], span_of(bytes, sizeof bytes)},
                               {b[1], span_of(bytes, sizeof bytes)}};
    assert_int_equal(pthread_create(&thread, NULL, read_in_order, &reader), 0);
    assert_int_equal(two_pipes_write(ends), 0);
    assert_int_equal(pthread_join(thread, &total), 0);
    assert_int_equal((uintptr_t)total, 2 * sizeof bytes);
    close(a[0]);
    close(b[0]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_come_by_module_and_address),
      cmocka_unit_test(neither_pipe_waits_for_the_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
