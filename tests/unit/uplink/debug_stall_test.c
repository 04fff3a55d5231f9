/* SPDX-License-Identifier: Apache-2.0 */
/* A file system that stops answering when a file on it is half read.  The child that reads is a
   real one; that the file lies far away, and the read that never returns, are this test's. */
#include "elf/elf_sections.h"
#include "uplink/debug_sender.h"

#include "common/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANY = INT_MAX };

/* Seen by this test and by the children that are forked from it. */
struct server {
  atomic_int answers_left;
  atomic_int waiting;
};

static struct server *server;
static struct debug_sender *sender;
static char program[PATH_MAX];
static uint64_t program_bytes;
static struct elf_sections own;

ssize_t __real_pread64(int fd, void *bytes, size_t len, off_t offset);
ssize_t __wrap_pread64(int fd, void *bytes, size_t len, off_t offset);
int __real_stat64(const char *path, struct stat *ret);
int __wrap_stat64(const char *path, struct stat *ret);
bool __wrap_mount_info_is_far(pid_t pid, uint64_t device);

ssize_t __wrap_pread64(int fd, void *bytes, size_t len, off_t offset) {
  if (atomic_load(&server->answers_left) == ANY || atomic_fetch_sub(&server->answers_left, 1) > 0)
    return __real_pread64(fd, bytes, len, offset);
  atomic_fetch_add(&server->waiting, 1);
  for (;;) pause(); /* until the worker kills it, or ends */
}

/* The program lies beside "/" otherwise. */
int __wrap_stat64(const char *path, struct stat *ret) {
  return strcmp(path, "/") == 0 ? -1 : __real_stat64(path, ret);
}

bool __wrap_mount_info_is_far(pid_t pid, uint64_t device) {
  (void)pid, (void)device;
  return true;
}

static size_t read_at(void *context, uint64_t offset, void *bytes, size_t len) {
  ssize_t got = __real_pread64(*(int *)context, bytes, len, (off_t)offset);
  return got > 0 ? (size_t)got : 0;
}

static int set_up(void **state) {
  struct stat status;
  (void)state;
  server = mmap(NULL, sizeof *server, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (server == MAP_FAILED || realpath("/proc/self/exe", program) == NULL) return -1;
  atomic_store(&server->answers_left, ANY);
  int fd = open(program, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &status) < 0) return -1;
  program_bytes = (uint64_t)status.st_size;
  int error = elf_sections_read(read_at, &fd, &own);
  close(fd);
  return error != 0 ? error : debug_sender_open(1 << 30, &sender);
}

static int tear_down(void **state) {
  (void)state;
  debug_sender_close(sender);
  return munmap(server, sizeof *server);
}

static struct span own_id(void) {
  return span_of(own.build_id, own.build_id_bytes);
}

/* Wants the program by the name PATH. */
static int want_as(const char *path) {
  char why[256] = "";
  struct debug_wanted wanted = {.id = own_id(), .path = path};
  debug_sender_note(sender, own_id(), path, program);
  return debug_sender_want(sender, &wanted, why, sizeof why);
}

/* The next piece, or why there is none; its bytes are added to TOTAL. */
static int next_piece(uint64_t *total) {
  int rc = -EAGAIN;
  while (rc == -EAGAIN) {
    struct arena arena;
    struct debug_chunk piece = {0};
    arena_init(&arena, 1 << 20);
    rc = debug_sender_next(sender, &arena, &piece);
    *total += rc == 0 ? piece.raw_len : 0;
    if (rc == -ETIMEDOUT) assert_true(span_is_equal(piece.id, own_id())); /* whose end it is */
    arena_fini(&arena);
  }
  return rc;
}

static void assert_whole(void) {
  uint64_t total = 0;
  int rc = 0;
  while (rc == 0) rc = next_piece(&total);
  assert_int_equal(rc, -ENOENT);
  assert_int_equal(total, program_bytes);
}

/* ANSWERS more are given, and the transfer ends with the one that is not. */
static void assert_given_up_after(int answers) {
  uint64_t total = 0;
  atomic_store(&server->answers_left, answers);
  assert_int_equal(next_piece(&total), -ETIMEDOUT);
  assert_int_equal(atomic_load(&server->waiting), 1);
  assert_int_equal(next_piece(&total), -ENOENT);
}

static void a_far_file_comes_out_whole(void **state) {
  (void)state;
  assert_int_equal(want_as("/far/a"), 0);
  assert_whole();
}

static void a_hang_before_the_first_piece_ends_the_transfer(void **state) {
  (void)state;
  assert_int_equal(want_as("/far/a"), 0);
  assert_given_up_after(2);
}

static void a_hang_between_two_pieces_ends_the_transfer(void **state) {
  (void)state;
  uint64_t total = 0;
  assert_int_equal(want_as("/far/a"), 0);
  assert_int_equal(next_piece(&total), 0);
  assert_true(total < program_bytes);
  assert_given_up_after(0);
}

static void after_a_hang_its_place_rests_and_others_are_read(void **state) {
  (void)state;
  assert_int_equal(want_as("/far/a"), 0);
  assert_given_up_after(2);
  assert_int_equal(want_as("/far/a"), -ETIMEDOUT); /* asked once more */
  assert_int_equal(want_as("/far/a"), -EBUSY);
  atomic_store(&server->answers_left, ANY);
  assert_int_equal(want_as("/near/b"), 0);
  assert_whole();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_far_file_comes_out_whole, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_hang_before_the_first_piece_ends_the_transfer, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_hang_between_two_pieces_ends_the_transfer, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(after_a_hang_its_place_rests_and_others_are_read, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
