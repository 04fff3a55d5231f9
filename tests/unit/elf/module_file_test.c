/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/module_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t owner_of(int fd, mode_t mode) {
  struct module_stamp stamp;
  assert_int_equal(fchmod(fd, mode), 0);
  assert_int_equal(module_file_stamp(fd, &stamp), 0);
  return stamp.owner;
}

static void who_else_can_write_a_file_makes_its_owner_unsure(void **state) {
  (void)state;
  struct statvfs system;
  char path[] = "module_file_test-XXXXXX"; /* where the build is, which is seldom nosuid */
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  unlink(path);
  assert_int_equal(fstatvfs(fd, &system), 0);
  bool is_believed = (system.f_flag & ST_NOSUID) == 0;
  assert_int_equal(owner_of(fd, 0755), is_believed ? getuid() : MODULE_OWNER_UNSURE);
  assert_int_equal(owner_of(fd, 0775), MODULE_OWNER_UNSURE);
  assert_int_equal(owner_of(fd, 0757), MODULE_OWNER_UNSURE);
  close(fd);
}

static void a_file_system_mounted_nosuid_is_not_believed(void **state) {
  (void)state;
  struct statvfs system;
  struct module_stamp stamp;
  FILE *file = fopen("/proc/self/comm", "re"); /* procfs is nosuid nearly everywhere */
  if (file == NULL || fstatvfs(fileno(file), &system) < 0 || (system.f_flag & ST_NOSUID) == 0)
    skip();
  assert_int_equal(module_file_stamp(fileno(file), &stamp), 0);
  assert_int_equal(stamp.owner, MODULE_OWNER_UNSURE);
  fclose(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_else_can_write_a_file_makes_its_owner_unsure),
      cmocka_unit_test(a_file_system_mounted_nosuid_is_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
