/* SPDX-License-Identifier: Apache-2.0 */
/* A user with write access to a directory cannot redirect another user's output. */
#include "common/owned_path.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OTHER_UID = 65533 };

static char dir[64];

static const char *in_dir(const char *name) {
  static char paths[4][128];
  static unsigned at;
  at = (at + 1) % 4;
  snprintf(paths[at], sizeof paths[at], "%s/%s", dir, name);
  return paths[at];
}

static int set_up(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/owned-path-XXXXXX");
  if (mkdtemp(dir) == NULL || mkdir(in_dir("sub"), 0700) != 0) return -1;
  return 0;
}

static int tear_down(void **state) {
  char command[128];
  (void)state;
  snprintf(command, sizeof command, "rm -r %s", dir);
  return system(command);
}

/* Writes "x" to the file that PATH opens; returns -errno on failure. */
static int write_to(const char *path) {
  int fd = owned_path_open(path, O_WRONLY | O_CREAT, 0600);
  if (fd < 0) return fd;
  assert_int_equal(write(fd, "x", 1), 1);
  close(fd);
  return 0;
}

static long bytes_of(const char *name) {
  struct stat found;
  return stat(in_dir(name), &found) == 0 ? (long)found.st_size : -1;
}

static void give_away(const char *name) {
  assert_int_equal(lchown(in_dir(name), OTHER_UID, OTHER_UID), 0);
}

static void links_of_one_s_own_are_followed(void **state) {
  (void)state;
  assert_int_equal(symlink("sub/target", in_dir("relative")), 0);
  assert_int_equal(symlink(in_dir("sub"), in_dir("folder")), 0);
  assert_int_equal(symlink("relative", in_dir("twice")), 0);
  assert_int_equal(write_to(in_dir("twice")), 0); /* missing files are created through links */
  assert_int_equal(bytes_of("sub/target"), 1);
  assert_int_equal(write_to(in_dir("folder/../folder/./next")), 0);
  assert_int_equal(bytes_of("sub/next"), 1);
  char name[NAME_MAX + 1];
  int folder = owned_path_folder(in_dir("folder/next"), name);
  assert_true(folder >= 0);
  assert_string_equal(name, "next");
  struct stat found, wanted;
  assert_int_equal(fstat(folder, &found), 0);
  assert_int_equal(stat(in_dir("sub"), &wanted), 0);
  assert_true(found.st_ino == wanted.st_ino);
  close(folder);
}

static void errors_are_those_of_open(void **state) {
  (void)state;
  char longest[PATH_MAX + 2];
  memset(longest, 'a', sizeof longest - 1);
  longest[sizeof longest - 1] = '\0';
  assert_int_equal(write_to(""), -ENOENT);
  assert_int_equal(write_to("/"), -EISDIR);
  assert_int_equal(write_to(in_dir("sub")), -EISDIR);
  assert_int_equal(write_to(in_dir("sub/")), -EISDIR);
  assert_int_equal(write_to(in_dir("none/x")), -ENOENT);
  assert_int_equal(write_to(longest), -ENAMETOOLONG);
  longest[300] = '\0';
  assert_int_equal(write_to(longest), -ENAMETOOLONG);
  assert_int_equal(write_to(in_dir("file")), 0);
  assert_int_equal(write_to(in_dir("file/x")), -ENOTDIR);
  assert_int_equal(symlink("loop", in_dir("loop")), 0);
  assert_int_equal(write_to(in_dir("loop")), -ELOOP);
  assert_int_equal(write_to(in_dir("loop/x")), -ELOOP);
}

/* /dev/stdout is root's link to a link below /proc, whose target may be no file at all. */
static void descriptors_are_reached_by_their_names(void **state) {
  (void)state;
  int ends[2];
  char path[64], got;
  assert_int_equal(pipe(ends), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
  assert_int_equal(write_to(path), 0);
  assert_int_equal(read(ends[0], &got, 1), 1);
  close(ends[0]);
  close(ends[1]);
  int folder = open(in_dir("sub"), O_PATH | O_DIRECTORY);
  snprintf(path, sizeof path, "/proc/self/fd/%d/x", folder);
  assert_int_equal(write_to(path), 0);
  assert_int_equal(bytes_of("sub/x"), 1);
  close(folder);
}

static void links_of_another_user_are_not(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  assert_int_equal(write_to(in_dir("precious")), 0);
  assert_int_equal(symlink("precious", in_dir("last")), 0);
  assert_int_equal(symlink("sub", in_dir("folder")), 0);
  assert_int_equal(symlink("folder/x", in_dir("mine")), 0);
  give_away("last");
  give_away("folder");
  assert_int_equal(truncate(in_dir("precious"), 0), 0);
  assert_int_equal(write_to(in_dir("last")), -ELOOP);
  assert_int_equal(write_to(in_dir("folder/x")), -ELOOP);
  assert_int_equal(write_to(in_dir("mine")), -ELOOP);
  char name[NAME_MAX + 1];
  assert_int_equal(owned_path_folder(in_dir("folder/x"), name), -ELOOP);
  assert_int_equal(bytes_of("precious"), 0);
  assert_int_equal(bytes_of("sub/x"), -1);
  assert_non_null(strstr(owned_path_why(-ELOOP), "another user"));
}

static void a_file_of_another_user_is_written_where_only_one_may(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  assert_int_equal(write_to(in_dir("sub/his")), 0);
  give_away("sub/his");
  assert_int_equal(write_to(in_dir("sub/his")), 0);
  assert_int_equal(chmod(in_dir("sub"), 01777), 0);
  assert_int_equal(write_to(in_dir("sub/his")), -EXDEV);
  assert_int_equal(write_to(in_dir("sub/own")), 0);
  assert_int_equal(write_to(in_dir("sub/own")), 0);
}

static void a_file_of_another_user_is_not_emptied_before_it_is_refused(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  assert_int_equal(write_to(in_dir("sub/his")), 0);
  assert_int_equal(write_to(in_dir("sub/own")), 0);
  assert_int_equal(symlink("sub/his", in_dir("link")), 0);
  give_away("sub/his");
  assert_int_equal(chmod(in_dir("sub"), 01777), 0);
  assert_int_equal(owned_path_open(in_dir("link"), O_WRONLY | O_TRUNC, 0600), -EXDEV);
  assert_int_equal(owned_path_open(in_dir("sub/his"), O_WRONLY | O_CREAT | O_TRUNC, 0600), -EXDEV);
  assert_int_equal(bytes_of("sub/his"), 1);
  int fd = owned_path_open(in_dir("sub/own"), O_WRONLY | O_TRUNC, 0600);
  assert_true(fd >= 0);
  assert_int_equal(bytes_of("sub/own"), 0);
  close(fd);
}

static void a_fifo_of_another_user_is_refused_without_waiting(void **state) {
  (void)state;
  if (geteuid() != 0) skip();
  assert_int_equal(mkfifo(in_dir("sub/his"), 0600), 0);
  give_away("sub/his");
  assert_int_equal(chmod(in_dir("sub"), 01777), 0);
  alarm(60); /* an open that waits for a reader ends the test */
  assert_int_equal(owned_path_open(in_dir("sub/his"), O_WRONLY, 0600), -EXDEV);
  assert_int_equal(owned_path_open(in_dir("sub/his"), O_WRONLY | O_CREAT | O_TRUNC, 0600), -EXDEV);
  int reader = open(in_dir("sub/his"), O_RDONLY | O_NONBLOCK);
  assert_true(reader >= 0);
  assert_int_equal(owned_path_open(in_dir("sub/his"), O_WRONLY, 0600), -EXDEV);
  alarm(0);
  close(reader);
}

static void one_s_own_fifo_opens_with_its_reader_and_blocks(void **state) {
  (void)state;
  assert_int_equal(mkfifo(in_dir("own"), 0600), 0);
  assert_int_equal(chmod(dir, 01777), 0);
  const char *path = in_dir("own");
  alarm(60);
  pid_t reader = fork();
  if (reader == 0) {
    char got = 0;
    int fd = open(path, O_RDONLY);
    _exit(fd >= 0 && read(fd, &got, 1) == 1 && got == 'x' ? 0 : 1);
  }
  int fd = owned_path_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), status = -1;
  assert_true(fd >= 0);
  assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  assert_int_equal(write(fd, "x", 1), 1);
  close(fd);
  assert_int_equal(waitpid(reader, &status, 0), reader);
  assert_int_equal(status, 0);
  alarm(0);
  assert_int_equal(owned_path_open(path, O_WRONLY | O_NONBLOCK, 0600), -ENXIO);
}

int main(void) {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      IN_DIR(links_of_one_s_own_are_followed),
      IN_DIR(errors_are_those_of_open),
      IN_DIR(descriptors_are_reached_by_their_names),
      IN_DIR(links_of_another_user_are_not),
      IN_DIR(a_file_of_another_user_is_written_where_only_one_may),
      IN_DIR(a_file_of_another_user_is_not_emptied_before_it_is_refused),
      IN_DIR(a_fifo_of_another_user_is_refused_without_waiting),
      IN_DIR(one_s_own_fifo_opens_with_its_reader_and_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
