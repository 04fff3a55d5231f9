/* SPDX-License-Identifier: Apache-2.0 */
/* A profile has its kind before the first sample. */
#include "proto/limits.h"
#include "proto/spool_segment.h"
#include "spool/profile_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void its_head_tells_the_version_of_its_batches(void **state) {
  (void)state;
  struct profile_file file;
  struct spool_entry entry;
  int fd = memfd_create("profile", MFD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(profile_file_resume(fd, &file), 0);
  struct spool_reader reader = {.fd = fd, .end = file.end};
  assert_int_equal(spool_segment_next(&reader, &entry), 0);
  assert_int_equal(entry.kind, SPOOL_MARK);
  assert_int_equal(entry.run, 0);
  assert_int_equal(entry.records, LIMIT_PROTOCOL_VERSION);
  assert_int_equal(spool_segment_next(&reader, &entry), -ENOENT);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(its_head_tells_the_version_of_its_batches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
