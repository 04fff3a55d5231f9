/* SPDX-License-Identifier: Apache-2.0 */
/* A script stands in PATH for the daemon and writes down the environment that it was given. */
#include "cli/daemon_start.h"
#include "common/clock.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/daemon-start-XXXXXX", seen[8192];
static const char *const names[] = {"fleetprofd", "environment", "words", "fleetprofd.sock"};

static void path_of(const char *name, char path[128]) {
  snprintf(path, 128, "%s/%s", dir, name);
}

static int set_up(void **state) {
  (void)state;
  char path[128], search[256];
  if (mkdtemp(dir) == NULL) return -1;
  path_of("fleetprofd", path);
  FILE *script = fopen(path, "w");
  if (script == NULL) return -1;
  fprintf(script, "#!/bin/sh\nenv >%s/environment\necho \"$@\" >%s/words\nexit 1\n", dir, dir);
  fclose(script);
  chmod(path, 0700);
  snprintf(search, sizeof search, "%s:/usr/bin:/bin", dir);
  return setenv("PATH", search, 1);
}

static int tear_down(void **state) {
  (void)state;
  char path[128];
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    path_of(names[i], path);
    unlink(path);
  }
  return rmdir(dir);
}

static const char *contents(const char *name) {
  char path[128];
  path_of(name, path);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  seen[fread(seen, 1, sizeof seen - 1, file)] = '\0';
  fclose(file);
  return seen;
}

static void a_daemon_gets_none_of_runs_own_settings(void **state) {
  (void)state;
  static const char *const runs_own[] = {
      "CONFIG", "SERVICE", "SAMPLER", "UNWIND", "COLLECT", "OUTPUT", "FLUSH_TIMEOUT",
      "LABEL",  "HZ",      "VERBOSE", "STATE",  "SOCKET",  "TOKEN",  "FOREGROUND"};
  char name[64], why[256] = "", found[128];
  struct path socket;
  for (unsigned i = 0; i < sizeof runs_own / sizeof *runs_own; i++) {
    snprintf(name, sizeof name, "FLEETPROF_%s", runs_own[i]);
    setenv(name, "of-run", 1);
  }
  setenv("FLEETPROF_SPOOL_BYTES", "2M", 1);
  struct daemon_wish wish = {.state = dir, .collector = "127.0.0.1:1"};
  assert_true(daemon_start(&wish, &socket, why, sizeof why) != 0);
  assert_non_null(strstr(why, "status 1"));
  contents("environment");
  assert_null(strstr(seen, "of-run"));
  assert_non_null(strstr(seen, "FLEETPROF_SPOOL_BYTES=2M\n"));
  assert_non_null(strstr(seen, "FLEETPROF=0\n"));
  assert_non_null(strstr(seen, "PATH="));
  snprintf(found, sizeof found, "--state %s --collector 127.0.0.1:1 --on-demand\n", dir);
  assert_string_equal(contents("words"), found);
  assert_string_equal(getenv("FLEETPROF_CONFIG"), "of-run"); /* our environment is unchanged */
}

static void a_hung_daemon_is_not_waited_for(void **state) {
  (void)state;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/fleetprofd.sock", dir);
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
  assert_int_equal(listen(listener, 0), 0);
  int client = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); /* fills the backlog */
  assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof address), 0);
  struct daemon_wish wish = {.state = dir};
  struct path found;
  char why[256] = "";
  uint64_t begin_ns = clock_monotonic_ns();
  assert_int_equal(daemon_start(&wish, &found, why, sizeof why), -ETIMEDOUT);
  assert_true(clock_monotonic_ns() - begin_ns < 3 * NS_PER_SECOND);
  assert_non_null(strstr(why, "hangs"));
  close(client);
  close(listener);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_daemon_gets_none_of_runs_own_settings),
      cmocka_unit_test(a_hung_daemon_is_not_waited_for),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
