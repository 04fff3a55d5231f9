/* SPDX-License-Identifier: Apache-2.0 */
#include "proc/mount_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static bool is_type(const char *line, uint64_t device, const char *type) {
  return span_is_equal(mount_info_type(span_of_string(line), device), span_of_string(type));
}

static void the_type_stands_behind_the_dash(void **state) {
  (void)state;
  uint64_t device = mount_info_device(0, 52);
  assert_true(
      is_type("36 35 0:52 / /mnt rw,noatime - fuse.sshfs me@there: rw", device, "fuse.sshfs"));
  assert_true(
      is_type("36 35 0:52 /a\\040- /mnt rw master:1 shared:2 - nfs4 srv:/ rw", device, "nfs4"));
}

static void another_device_is_another_line(void **state) {
  (void)state;
  const char *line = "36 35 0:52 / /mnt rw - fuse x rw";
  assert_true(is_type(line, mount_info_device(0, 5), ""));
  assert_true(is_type(line, mount_info_device(0, 520), ""));
  assert_true(is_type(line, mount_info_device(52, 52), ""));
}

static void a_line_that_ends_early_has_no_type(void **state) {
  (void)state;
  uint64_t device = mount_info_device(0, 52);
  assert_true(is_type("", device, ""));
  assert_true(is_type("36 35", device, ""));
  assert_true(is_type("36 35 0:52", device, ""));
  assert_true(is_type("36 35 0:52 / /mnt rw -", device, ""));
}

static void servers_and_programs_can_stall_and_disks_cannot(void **state) {
  (void)state;
  static const char *const far[] = {"fuse", "fuse.sshfs", "nfs", "nfs4", "9p", "cifs"};
  static const char *const near[] = {"",      "ext4",  "tmpfs", "overlay", "btrfs",
                                     "ubifs", "fusex", "fuse.", "fusectl", "nfsd"};
  for (unsigned i = 0; i < sizeof far / sizeof *far; i++)
    assert_true(mount_info_can_stall(span_of_string(far[i])));
  for (unsigned i = 0; i < sizeof near / sizeof *near; i++)
    assert_false(mount_info_can_stall(span_of_string(near[i])));
}

static void our_own_mounts_are_read(void **state) {
  (void)state;
  assert_false(mount_info_is_far(0, mount_info_device(8, 1)));
  assert_false(mount_info_is_far(0, mount_info_device(0, 0xfffff)));
  assert_false(mount_info_is_far(0x3ffffff0, mount_info_device(0, 1)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_type_stands_behind_the_dash),
      cmocka_unit_test(another_device_is_another_line),
      cmocka_unit_test(a_line_that_ends_early_has_no_type),
      cmocka_unit_test(servers_and_programs_can_stall_and_disks_cannot),
      cmocka_unit_test(our_own_mounts_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
