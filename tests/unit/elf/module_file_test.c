/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/module_file.h"

#include "proc/mappings.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
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
  char path[] = "/tmp/module_file_test-XXXXXX"; /* which is nosuid on some boards */
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

/* A memfd with a copy of this program; PATH is the name in its mappings. */
static int copy_in_memory(const char *name) {
  char bytes[65536];
  int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  int to = memfd_create(name, MFD_CLOEXEC);
  assert_true(from >= 0 && to >= 0);
  for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
    assert_int_equal(write(to, bytes, (size_t)got), got);
  close(from);
  return to;
}

static void assert_opens(const char *path, uint64_t inode) {
  char open_path[LIMIT_PATH_BYTES + 32];
  struct module_stamp stamp, again;
  const struct module_wanted wanted = {.path = path, .pid = getpid(), .inode = inode};
  int fd = module_file_open(&wanted, open_path);
  assert_true(fd >= 0);
  assert_int_equal(module_file_stamp(fd, &stamp), 0);
  assert_int_equal(stamp.inode, inode);
  close(fd);
  fd = open(open_path, O_RDONLY | O_CLOEXEC); /* others open it by that path */
  assert_true(fd >= 0);
  assert_int_equal(module_file_stamp(fd, &again), 0);
  assert_int_equal(again.inode, inode);
  close(fd);
}

static void a_file_in_no_folder_is_opened_where_its_process_has_it_open(void **state) {
  (void)state;
  struct stat found;
  int fd = copy_in_memory("open");
  assert_int_equal(fstat(fd, &found), 0);
  assert_opens("/memfd:open", found.st_ino);
  close(fd);
}

static void a_file_in_no_folder_is_opened_through_its_mapping(void **state) {
  (void)state;
  struct stat found;
  char open_path[LIMIT_PATH_BYTES + 32];
  int fd = copy_in_memory("mapped");
  assert_int_equal(fstat(fd, &found), 0);
  void *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  assert_true(map != MAP_FAILED);
  close(fd);
  if (geteuid() == 0) assert_opens("/memfd:mapped", found.st_ino);
  /* Another file has that number on another file system. */
  const struct module_wanted other = {"/memfd:other", getpid(), UINT64_C(99) << 32, found.st_ino};
  assert_true(module_file_open(&other, open_path) < 0);
  munmap(map, 4096);
}

static void a_mapping_is_a_files_by_its_device_or_its_path(void **state) {
  struct mapping mapping = {.inode = 7, .major = 8, .minor = 1, .is_executable = true};
  struct module_wanted wanted = {"/lib/a.so", 0, UINT64_C(8) << 32 | 1, 7};
  (void)state;
  mapping.path = span_of_string("/lib/renamed.so (deleted)");
  assert_true(module_file_is_mapped(&wanted, &mapping));
  mapping.minor = 2;
  assert_false(module_file_is_mapped(&wanted, &mapping));
  mapping.path = span_of_string("/lib/a.so (deleted)");
  assert_true(module_file_is_mapped(&wanted, &mapping));
  mapping.is_executable = false;
  assert_false(module_file_is_mapped(&wanted, &mapping));
  mapping.is_executable = true;
  wanted.inode = 8;
  assert_false(module_file_is_mapped(&wanted, &mapping));
}

static void a_program_whose_file_was_replaced_is_opened_as_what_runs(void **state) {
  (void)state;
  struct stat found;
  char path[] = "/tmp/module_file_test-XXXXXX", other[32];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  unlink(path);
  snprintf(other, sizeof other, "/proc/self/fd/%d", fd);
  assert_int_equal(stat("/proc/self/exe", &found), 0);
  assert_opens(other, found.st_ino); /* another file is at that path */
  assert_opens(path, found.st_ino);  /* none is */
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(who_else_can_write_a_file_makes_its_owner_unsure),
      cmocka_unit_test(a_file_in_no_folder_is_opened_where_its_process_has_it_open),
      cmocka_unit_test(a_file_in_no_folder_is_opened_through_its_mapping),
      cmocka_unit_test(a_mapping_is_a_files_by_its_device_or_its_path),
      cmocka_unit_test(a_program_whose_file_was_replaced_is_opened_as_what_runs),
      cmocka_unit_test(a_file_system_mounted_nosuid_is_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
