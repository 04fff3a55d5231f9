/* SPDX-License-Identifier: Apache-2.0 */
/* A file system that stops responding while a file is read, or before. The child that reads is
   real; the remote file, the hanging read, and the passing time are simulated. */
#include "elf/elf_sections.h"
#include "uplink/debug_sender.h"

#include "common/arena.h"
#include "common/clock.h"
#include "proto/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANY = INT_MAX };

/* Seen by this test and by the children that are forked from it. */
struct server {
  atomic_int answers_left;
  atomic_bool is_over;
  atomic_int waiting;
  atomic_int found;        /* as reported by the children */
  atomic_ullong passed_ns; /* beyond the time of the real clock */
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
ssize_t __real_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags);
uint64_t __real_clock_monotonic_ns(void);
uint64_t __wrap_clock_monotonic_ns(void);

uint64_t __wrap_clock_monotonic_ns(void) {
  return __real_clock_monotonic_ns() + atomic_load(&server->passed_ns);
}

ssize_t __wrap_pread64(int fd, void *bytes, size_t len, off_t offset) {
  if (atomic_load(&server->answers_left) == ANY || atomic_fetch_sub(&server->answers_left, 1) > 0)
    return __real_pread64(fd, bytes, len, offset);
  atomic_fetch_add(&server->waiting, 1);
  while (!atomic_load(&server->is_over)) usleep(1000); /* or until the worker kills it */
  _exit(0);
}

ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags) {
  ssize_t sent = __real_sendmsg(socket, message, flags);
  atomic_fetch_add(&server->found, 1);
  return sent;
}

/* Otherwise the program has the same device as "/". */
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
  atomic_store(&server->is_over, true);
  while (waitpid(-1, NULL, 0) > 0) {
  }
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

/* The result of the next call; the bytes of a piece are added to TOTAL. */
static int call_next(uint64_t *total) {
  struct arena arena;
  struct debug_chunk piece = {0};
  const char *why = NULL;
  arena_init(&arena, 1 << 20);
  int rc = debug_sender_next(sender, &arena, &piece, &why);
  *total += rc == 0 ? piece.raw_len : 0;
  if (rc == -ETIMEDOUT) assert_true(piece.id.len > 0); /* of the file that ends with it */
  arena_fini(&arena);
  return rc;
}

static bool is_to_be_called_again(int rc) {
  return rc == -EAGAIN || rc == -EINPROGRESS;
}

/* The next piece, or the reason for its absence. A child that answers does so long before its
   timeout. */
static int next_piece(uint64_t *total) {
  int rc;
  while (is_to_be_called_again(rc = call_next(total)) && atomic_load(&server->waiting) == 0)
    if (rc == -EINPROGRESS) usleep(1000);
  if (!is_to_be_called_again(rc)) return rc;
  for (int i = 0; i < 20 && rc == -EINPROGRESS; i++) rc = call_next(total); /* it waits no time */
  assert_int_equal(rc, -EINPROGRESS);
  atomic_fetch_add(&server->passed_ns, 10 * NS_PER_SECOND);
  return call_next(total);
}

static void assert_whole(void) {
  uint64_t total = 0;
  int rc = 0;
  while (rc == 0) rc = next_piece(&total);
  assert_int_equal(rc, -ENOENT);
  assert_int_equal(total, program_bytes);
}

/* ANSWERS more pieces are delivered; the transfer ends with the first that is not. */
static void assert_given_up_after(int answers) {
  uint64_t total = 0;
  atomic_store(&server->answers_left, answers);
  assert_int_equal(next_piece(&total), -ETIMEDOUT);
  assert_int_equal(atomic_exchange(&server->waiting, 0), 1);
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
  while (atomic_load(&server->found) == 0) usleep(1000);
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

static void a_hang_before_it_is_found_ends_the_wish_and_its_place_rests(void **state) {
  (void)state;
  atomic_store(&server->answers_left, 0);
  assert_int_equal(want_as("/far/a"), 0);
  assert_given_up_after(0);
  assert_int_equal(want_as("/far/a"), -EBUSY);
  atomic_store(&server->answers_left, ANY);
  assert_int_equal(want_as("/near/b"), 0);
  assert_whole();
  atomic_fetch_add(&server->passed_ns, 60 * NS_PER_SECOND);
  assert_int_equal(want_as("/far/a"), 0);
  assert_whole();
}

static void a_place_that_hangs_holds_up_no_other_file(void **state) {
  static const uint8_t other[] = {1, 2, 3};
  char why[256];
  uint64_t total = 0;
  (void)state;
  debug_sender_note(sender, span_of(other, sizeof other), "/far/a", program);
  struct debug_wanted wanted = {.id = span_of(other, sizeof other), .path = "/far/a"};
  atomic_store(&server->answers_left, 0);
  assert_int_equal(debug_sender_want(sender, &wanted, why, sizeof why), 0);
  while (atomic_load(&server->waiting) == 0) usleep(1000);
  atomic_store(&server->answers_left, ANY);
  assert_int_equal(want_as("/near/b"), 0);
  int rc = -EAGAIN;
  while (total < program_bytes && (rc == 0 || is_to_be_called_again(rc))) rc = call_next(&total);
  assert_int_equal(total, program_bytes);
  assert_int_equal(call_next(&total), -EINPROGRESS);
}

static unsigned children_of_this_process(void) {
  char path[64], line[1024] = "";
  snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  unsigned count = 0;
  if (fgets(line, sizeof line, file) != NULL)
    for (const char *at = line; (at = strchr(at, ' ')) != NULL; at++) count++;
  fclose(file);
  return count;
}

/* As many as a collector may want, all of which hang. */
static void a_few_children_look_at_a_time_and_each_wish_ends(void **state) {
  char why[256], path[64];
  uint64_t total = 0;
  unsigned ended = 0;
  (void)state;
  atomic_store(&server->answers_left, 0);
  for (uint32_t id = 0; id < LIMIT_DEBUG_WANTED; id++) {
    struct debug_wanted wanted = {.id = span_of(&id, sizeof id), .path = path};
    snprintf(path, sizeof path, "/far/%u", (unsigned)id);
    debug_sender_note(sender, wanted.id, path, program);
    assert_int_equal(debug_sender_want(sender, &wanted, why, sizeof why), 0);
  }
  assert_int_equal(children_of_this_process(), 4);
  for (int rc; (rc = call_next(&total)) != -ENOENT;) {
    if (rc == -EINPROGRESS) atomic_fetch_add(&server->passed_ns, 10 * NS_PER_SECOND);
    if (rc == -ETIMEDOUT) ended++;
    assert_true(rc == -EINPROGRESS || rc == -ETIMEDOUT);
  }
  assert_int_equal(ended, LIMIT_DEBUG_WANTED);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_far_file_comes_out_whole),
      CASE(a_hang_before_the_first_piece_ends_the_transfer),
      CASE(a_hang_between_two_pieces_ends_the_transfer),
      CASE(a_hang_before_it_is_found_ends_the_wish_and_its_place_rests),
      CASE(a_place_that_hangs_holds_up_no_other_file),
      CASE(a_few_children_look_at_a_time_and_each_wish_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
