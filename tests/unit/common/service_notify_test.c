/* SPDX-License-Identifier: Apache-2.0 */
/* A service manager receives each message on its socket, wherever the socket is; other programs
   send nothing. */
#include "common/service_notify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Listens at NAME, a path or an abstract name behind '@'. */
static int listen_at(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  size_t len = strlen(name);
  memcpy(address.sun_path, name, len);
  if (*name == '@') address.sun_path[0] = '\0';
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address,
                        (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
                   0);
  setenv("NOTIFY_SOCKET", name, 1);
  return fd;
}

static void expect(int fd, const char *text) {
  char got[128] = "";
  ssize_t len = recv(fd, got, sizeof got - 1, 0);
  assert_int_equal(len, (ssize_t)strlen(text));
  assert_string_equal(got, text);
}

static void words_reach_a_socket_in_a_folder_and_one_without(void **state) {
  char names[2][64];
  struct service_notify notify;
  (void)state;
  snprintf(names[0], sizeof names[0], "/tmp/notify-%d", (int)getpid());
  snprintf(names[1], sizeof names[1], "@notify-%d", (int)getpid());
  for (int i = 0; i < 2; i++) {
    int fd = listen_at(names[i]);
    service_notify_open(&notify);
    assert_null(getenv("NOTIFY_SOCKET"));
    service_notify_send(&notify, "READY=1");
    expect(fd, "READY=1");
    close(fd);
    service_notify_send(&notify, "STOPPING=1"); /* without a receiver: no harm */
  }
  unlink(names[0]);
}

static void a_watchdog_is_told_twice_in_its_time_by_who_is_meant(void **state) {
  char pid[16], name[64];
  struct service_notify notify;
  (void)state;
  snprintf(name, sizeof name, "@watchdog-%d", (int)getpid());
  for (int is_meant = 0; is_meant < 2; is_meant++) {
    snprintf(pid, sizeof pid, "%d", (int)getpid() + !is_meant);
    setenv("NOTIFY_SOCKET", name, 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    setenv("WATCHDOG_PID", pid, 1);
    service_notify_open(&notify);
    assert_int_equal(notify.period_ms, is_meant ? 15000 : 0);
    assert_null(getenv("WATCHDOG_USEC"));
    assert_null(getenv("WATCHDOG_PID"));
  }
}

static void a_name_that_is_no_socket_is_nobody(void **state) {
  char deep[300];
  struct service_notify notify;
  (void)state;
  memset(deep, 'x', sizeof deep);
  deep[0] = '/';
  deep[sizeof deep - 1] = '\0';
  const char *const names[] = {"", "@", "relative", deep};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    setenv("NOTIFY_SOCKET", names[i], 1);
    setenv("WATCHDOG_USEC", "30000000", 1);
    service_notify_open(&notify);
    assert_int_equal(notify.address_len, 0);
    assert_int_equal(notify.period_ms, 0);
    service_notify_send(&notify, "READY=1");
  }
}

static void a_reload_has_the_time_of_its_begin(void **state) {
  char name[64], got[128] = "";
  struct service_notify notify;
  (void)state;
  snprintf(name, sizeof name, "@reload-%d", (int)getpid());
  int fd = listen_at(name);
  service_notify_open(&notify);
  service_notify_reloading(&notify);
  assert_true(recv(fd, got, sizeof got - 1, 0) > 0);
  assert_memory_equal(got, "RELOADING=1\nMONOTONIC_USEC=", 27);
  assert_true(strtoull(got + 27, NULL, 10) > 0);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_reach_a_socket_in_a_folder_and_one_without),
      cmocka_unit_test(a_watchdog_is_told_twice_in_its_time_by_who_is_meant),
      cmocka_unit_test(a_name_that_is_no_socket_is_nobody),
      cmocka_unit_test(a_reload_has_the_time_of_its_begin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
