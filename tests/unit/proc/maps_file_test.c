/* SPDX-License-Identifier: Apache-2.0 */
/* Untrusted files sent in place of a program's maps. */
#include "proc/maps_file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static bool is_taken(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC);
  assert_true(fd >= 0);
  bool taken = maps_file_take(fd, getpid());
  close(fd);
  return taken;
}

static void a_programs_own_maps_are_taken(void **state) {
  (void)state;
  assert_true(is_taken("/proc/self/maps", O_RDONLY));
}

static void no_other_file_of_procfs_is(void **state) {
  (void)state;
  assert_false(is_taken("/proc/self/mem", O_RDONLY));
  assert_false(is_taken("/proc/self/mem", O_RDWR));
  assert_false(is_taken("/proc/self/smaps", O_RDONLY));
  assert_false(is_taken("/proc/self/maps", O_PATH));
  assert_false(is_taken("/proc/self", O_RDONLY));
}

static void the_maps_of_another_process_are_not(void **state) {
  (void)state;
  char path[32];
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  snprintf(path, sizeof path, "/proc/%d/maps", (int)child);
  assert_false(is_taken(path, O_RDONLY));
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(maps_file_take(fd, child));
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  assert_false(maps_file_take(fd, child)); /* it has ended */
  close(fd);
}

static void neither_is_a_pipe_or_a_deleted_file(void **state) {
  (void)state;
  char dir[] = "/tmp/maps-file-test-XXXXXX", path[64];
  assert_non_null(mkdtemp(dir));
  snprintf(path, sizeof path, "%s/maps", dir);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_false(is_taken(path, O_RDONLY | O_NONBLOCK));
  unlink(path);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  unlink(path);
  rmdir(dir);
  assert_false(maps_file_take(fd, getpid()));
  close(fd);
  assert_false(maps_file_take(-1, getpid()));
}

static void the_file_that_a_process_has_mapped_is_shown(void **state) {
  (void)state;
  struct stat found;
  char path[4096];
  ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
  assert_true(len > 0);
  path[len] = '\0';
  const char *name = strrchr(path, '/') + 1;
  assert_int_equal(stat(path, &found), 0);
  assert_true(maps_file_shows(getpid(), found.st_ino, name));
  assert_false(maps_file_shows(getpid(), found.st_ino + 1, name));
  assert_false(maps_file_shows(getpid(), found.st_ino, name + 1));
  assert_false(maps_file_shows(getpid(), found.st_ino, "other"));
  assert_false(maps_file_shows(0, found.st_ino, name));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_file_that_a_process_has_mapped_is_shown),
      cmocka_unit_test(a_programs_own_maps_are_taken),
      cmocka_unit_test(no_other_file_of_procfs_is),
      cmocka_unit_test(the_maps_of_another_process_are_not),
      cmocka_unit_test(neither_is_a_pipe_or_a_deleted_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
