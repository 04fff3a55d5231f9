/* SPDX-License-Identifier: Apache-2.0 */
/* The client against an other end that answers well, wrongly, late or never. */
#include "intake/intake_client.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { SHORT_MS = 50, LONG_MS = 2000 };

static int pair[2]; /* the client's end, the daemon's end */
static struct intake_request request;

static int setup(void **state) {
  (void)state;
  intake_client_request(&request, INTAKE_STATUS);
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
}

static int teardown(void **state) {
  (void)state;
  close(pair[0]);
  if (pair[1] >= 0) close(pair[1]);
  return 0;
}

static unsigned open_fds(void) {
  unsigned count = 0;
  for (int fd = 0; fd < 256; fd++) count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static struct intake_reply good_reply(void) {
  struct intake_reply reply = {
      .magic = INTAKE_MAGIC, .version = INTAKE_VERSION, .kind = INTAKE_ACCEPTED};
  return reply;
}

/* Puts a reply of LEN bytes with FD_COUNT descriptors where the client will look for it. */
static void reply_with(const struct intake_reply *reply, size_t len, unsigned fd_count) {
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(8 * sizeof(int))];
  } control = {.bytes = {0}};
  struct iovec body = {(void *)(uintptr_t)reply, len};
  struct msghdr message = {.msg_iov = &body, .msg_iovlen = 1};
  if (fd_count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(fd_count * sizeof(int));
    int fds[8];
    for (unsigned i = 0; i < fd_count; i++) fds[i] = STDERR_FILENO;
    memcpy(CMSG_DATA(&control.header), fds, fd_count * sizeof(int));
  }
  assert_int_equal(sendmsg(pair[1], &message, 0), (ssize_t)len);
}

static int call(uint32_t timeout_ms, struct intake_answer *ret) {
  struct intake_call call = {.request = &request, .timeout_ms = timeout_ms};
  return intake_client_call(pair[0], &call, ret);
}

static void an_answer_and_its_descriptor_come_back(void **state) {
  (void)state;
  struct intake_answer answer;
  struct intake_reply reply = good_reply();
  memset(reply.why, 'x', sizeof reply.why);
  reply_with(&reply, sizeof reply, 1);
  assert_int_equal(call(LONG_MS, &answer), 0);
  assert_int_equal(answer.reply.kind, INTAKE_ACCEPTED);
  assert_int_equal(strlen(answer.reply.why), sizeof reply.why - 1);
  assert_true(answer.fd >= 0);
  assert_int_equal(fcntl(answer.fd, F_GETFD), FD_CLOEXEC);
  close(answer.fd);
  struct intake_request got;
  assert_int_equal(recv(pair[1], &got, sizeof got, 0), sizeof got);
  assert_int_equal(got.magic, INTAKE_MAGIC);
  assert_int_equal(got.kind, INTAKE_STATUS);
}

static void descriptors_travel_with_the_request(void **state) {
  (void)state;
  struct intake_answer answer;
  struct intake_reply reply = good_reply();
  reply_with(&reply, sizeof reply, 0);
  int fds[INTAKE_FDS_MAX];
  for (unsigned i = 0; i < INTAKE_FDS_MAX; i++) fds[i] = STDERR_FILENO;
  struct intake_call call = {
      .request = &request, .fds = fds, .fd_count = INTAKE_FDS_MAX, .timeout_ms = LONG_MS};
  assert_int_equal(intake_client_call(pair[0], &call, &answer), 0);
  assert_int_equal(answer.fd, -1);
  static char control[CMSG_SPACE(INTAKE_FDS_MAX * sizeof(int))];
  struct iovec body = {&request, sizeof request};
  struct msghdr message = {
      .msg_iov = &body, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  assert_int_equal(recvmsg(pair[1], &message, MSG_CMSG_CLOEXEC), sizeof request);
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  assert_int_equal(header->cmsg_len, CMSG_LEN(INTAKE_FDS_MAX * sizeof(int)));
  memcpy(fds, CMSG_DATA(header), sizeof fds);
  for (unsigned i = 0; i < INTAKE_FDS_MAX; i++) close(fds[i]);
  call.fd_count = INTAKE_FDS_MAX + 1;
  assert_int_equal(intake_client_call(pair[0], &call, &answer), -EOVERFLOW);
}

static void more_descriptors_than_asked_for_are_closed(void **state) {
  (void)state;
  struct intake_answer answer;
  struct intake_reply reply = good_reply();
  unsigned before = open_fds();
  reply_with(&reply, sizeof reply, 3);
  assert_int_equal(call(LONG_MS, &answer), 0);
  assert_int_equal(open_fds(), before + 1);
  close(answer.fd);
  reply_with(&reply, sizeof reply, 8);
  assert_int_equal(call(LONG_MS, &answer), 0);
  close(answer.fd);
  assert_int_equal(open_fds(), before);
}

static void a_wrong_answer_is_refused_and_leaves_no_descriptor(void **state) {
  (void)state;
  unsigned before = open_fds();
  struct intake_answer answer;
  struct intake_reply reply = good_reply();
  reply_with(&reply, sizeof reply - 1, 1);
  assert_int_equal(call(LONG_MS, &answer), -EBADMSG);
  reply.magic++;
  reply_with(&reply, sizeof reply, 1);
  assert_int_equal(call(LONG_MS, &answer), -EBADMSG);
  reply = good_reply();
  reply.version++;
  reply_with(&reply, sizeof reply, 1);
  assert_int_equal(call(LONG_MS, &answer), -EPROTO);
  static char large[sizeof reply + 1];
  reply = good_reply();
  memcpy(large, &reply, sizeof reply);
  reply_with((struct intake_reply *)(void *)large, sizeof large, 1);
  assert_int_equal(call(LONG_MS, &answer), -EBADMSG);
  assert_int_equal(open_fds(), before);
}

static uint64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void a_silent_daemon_costs_the_timeout_and_no_more(void **state) {
  (void)state;
  struct intake_answer answer;
  uint64_t begin = now_ms();
  assert_int_equal(call(SHORT_MS, &answer), -ETIMEDOUT);
  assert_true(now_ms() - begin >= SHORT_MS - 5 && now_ms() - begin < 1000);
  assert_int_equal(call(0, &answer), -ETIMEDOUT);
}

static void a_daemon_that_goes_away_is_told_from_a_silent_one(void **state) {
  (void)state;
  struct intake_answer answer;
  close(pair[1]);
  pair[1] = -1;
  assert_int_equal(call(LONG_MS, &answer), -ECONNRESET);
}

/* A daemon that sends BUSY and closes, before the request or without reading it. */
static void turned_away(bool is_unread) {
  struct intake_answer answer;
  struct intake_reply reply = good_reply();
  reply.kind = INTAKE_BUSY;
  reply_with(&reply, sizeof reply, 0);
  if (is_unread) send(pair[0], &request, sizeof request, 0);
  close(pair[1]);
  pair[1] = -1;
  assert_int_equal(call(LONG_MS, &answer), 0);
  assert_int_equal(answer.reply.kind, INTAKE_BUSY);
}

static void who_is_turned_away_before_he_asks_hears_it(void **state) {
  (void)state;
  turned_away(false);
}

static void who_is_turned_away_unread_hears_it(void **state) {
  (void)state;
  turned_away(true);
}

static void listen_at(const char *path, int *ret_listener) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  memcpy(address.sun_path, path, strlen(path) + 1);
  *ret_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(*ret_listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(*ret_listener, 1), 0);
}

static void a_path_longer_than_an_address_is_reached(void **state) {
  (void)state;
  char base[] = "/tmp/fleetprof-test-XXXXXX", deep[300], path[320], via[64];
  int listener, fd = -1;
  assert_non_null(mkdtemp(base));
  snprintf(deep, sizeof deep, "%s/%0200d", base, 0);
  assert_int_equal(mkdir(deep, 0700), 0);
  snprintf(path, sizeof path, "%s/s", deep);
  unsigned before = open_fds();
  assert_int_equal(intake_client_connect(path, LONG_MS, &fd), -ENOENT);
  int directory = open(deep, O_PATH | O_CLOEXEC);
  snprintf(via, sizeof via, "/proc/self/fd/%d/s", directory);
  listen_at(via, &listener);
  close(directory);
  assert_int_equal(intake_client_connect(path, LONG_MS, &fd), 0);
  assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
  close(fd);
  close(listener);
  assert_int_equal(intake_client_connect(path, LONG_MS, &fd), -ECONNREFUSED);
  assert_int_equal(open_fds(), before);
  unlink(path);
  rmdir(deep);
  rmdir(base);
}

static void a_full_backlog_costs_the_timeout(void **state) {
  (void)state;
  char base[] = "/tmp/fleetprof-test-XXXXXX", path[64];
  int listener, fds[8], error = 0;
  unsigned count = 0;
  assert_non_null(mkdtemp(base));
  snprintf(path, sizeof path, "%s/s", base);
  listen_at(path, &listener);
  while (count < 8 && (error = intake_client_connect(path, SHORT_MS, &fds[count])) == 0) count++;
  assert_int_equal(error, -ETIMEDOUT);
  while (count > 0) close(fds[--count]);
  close(listener);
  unlink(path);
  rmdir(base);
}

static void a_name_too_long_for_any_address_is_refused(void **state) {
  (void)state;
  char path[512];
  int fd;
  snprintf(path, sizeof path, "/tmp/%0200d", 0);
  assert_int_equal(intake_client_connect(path, SHORT_MS, &fd), -ENAMETOOLONG);
}

#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(an_answer_and_its_descriptor_come_back),
      CLAIM(descriptors_travel_with_the_request),
      CLAIM(more_descriptors_than_asked_for_are_closed),
      CLAIM(a_wrong_answer_is_refused_and_leaves_no_descriptor),
      CLAIM(a_silent_daemon_costs_the_timeout_and_no_more),
      CLAIM(a_daemon_that_goes_away_is_told_from_a_silent_one),
      CLAIM(who_is_turned_away_before_he_asks_hears_it),
      CLAIM(who_is_turned_away_unread_hears_it),
      CLAIM(a_path_longer_than_an_address_is_reached),
      CLAIM(a_full_backlog_costs_the_timeout),
      CLAIM(a_name_too_long_for_any_address_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
