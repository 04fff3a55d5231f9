/* SPDX-License-Identifier: Apache-2.0 */
#include "keeper/settings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct settings settings;
static char error[8192];

static int parse(char *first, char *second) {
  char *argv[] = {"fleetprofd", first, second, NULL};
  struct options_result result;
  error[0] = '\0';
  return settings_parse(first ? second ? 3 : 2 : 1, argv, &settings, &result, error, sizeof error);
}

static void with_a_state_directory_everything_is_in_it(void **state) {
  (void)state;
  char here[4096], expected[8192], path[SETTINGS_PATH_BYTES];
  assert_int_equal(parse("--state", "/srv/board"), 0);
  assert_string_equal(settings.state_dir, "/srv/board");
  assert_string_equal(settings.runtime_dir, "/srv/board");
  assert_false(settings.is_system);
  assert_int_equal(parse("--state", "board"), 0);
  assert_non_null(getcwd(here, sizeof here));
  snprintf(expected, sizeof expected, "%s/board", here);
  assert_string_equal(settings.state_dir, expected);
  assert_true(settings_path("/a", "b", path));
  assert_string_equal(path, "/a/b");
}

static void the_defaults_are_those_of_the_manual(void **state) {
  (void)state;
  assert_int_equal(parse("--state", "/x"), 0);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(settings.window_ns, 10000000000);
  assert_int_equal(settings.spool_bytes, 64 << 20);
  assert_int_equal(settings.budget_debug_bytes_day, 256 << 20);
  assert_null(settings.collector);
}

static void values_out_of_range_are_refused_by_name(void **state) {
  (void)state;
  const struct {
    char *option, *value;
  } bad[] = {{"--window", "10ms"},       {"--window", "2m"},           {"--hz", "0"},
             {"--hz", "20000"},          {"--spool-bytes", "1K"},      {"--label", "novalue"},
             {"--label", "=x"},          {"--label", "board=x"},       {"--label", "kernel=x"},
             {"--label", "1st=x"},       {"--label", "a-b=x"},         {"--collector", "junk"},
             {"--collector", "host:"},   {"--collector", ":1"},        {"--collector", "h:0"},
             {"--collector", "h:65536"}, {"--collector", "::1:7"},     {"--collector", "a b:7"},
             {"--collector", "[]:7"},    {"--budget-cpu", "99999999%"}};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(parse(bad[i].option, bad[i].value), -EINVAL);
    assert_non_null(strstr(error, bad[i].option));
  }
  assert_int_equal(parse("--collector", "[::1]:7443"), 0);
  assert_int_equal(parse("--collector", "fleet-1.example.org:7443"), 0);
  assert_int_equal(parse("--label", "_rack9=a-b=c"), 0);
  assert_int_equal(parse("stray", NULL), -EINVAL);
  assert_non_null(strstr(error, "stray"));
}

static void the_collector_is_the_given_or_the_enrolled_one(void **state) {
  (void)state;
  char dir[] = "/tmp/settings-test-XXXXXX", path[64], address[64];
  assert_non_null(mkdtemp(dir));
  assert_int_equal(parse("--state", dir), 0);
  assert_false(settings_collector(&settings, address, sizeof address));
  snprintf(path, sizeof path, "%s/collector", dir);
  FILE *file = fopen(path, "w");
  fputs("10.0.0.1:7443\n", file);
  fclose(file);
  assert_true(settings_collector(&settings, address, sizeof address));
  assert_string_equal(address, "10.0.0.1:7443");
  settings.collector = "10.0.0.2:7443";
  assert_true(settings_collector(&settings, address, sizeof address));
  assert_string_equal(address, "10.0.0.2:7443");
  unlink(path);
  rmdir(dir);
}

static void directories_are_made_with_their_parents_and_closed_to_others(void **state) {
  (void)state;
  char dir[] = "/tmp/settings-test-XXXXXX", deep[64], command[80];
  struct stat found;
  assert_non_null(mkdtemp(dir));
  snprintf(deep, sizeof deep, "%s/a/b", dir);
  assert_int_equal(parse("--state", deep), 0);
  assert_int_equal(settings_make_dirs(&settings, error, sizeof error), 0);
  assert_int_equal(stat(deep, &found), 0);
  assert_int_equal(found.st_mode & 0777, 0700);
  snprintf(deep, sizeof deep, "%s/file", dir);
  fclose(fopen(deep, "w"));
  assert_int_equal(parse("--state", deep), 0);
  assert_int_not_equal(settings_make_dirs(&settings, error, sizeof error), 0);
  assert_non_null(strstr(error, deep));
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  assert_int_equal(system(command), 0);
}

static void a_users_socket_directory_must_be_closed_to_others(void **state) {
  (void)state;
  char dir[] = "/tmp/settings-test-XXXXXX", link[64], command[160];
  assert_non_null(mkdtemp(dir));
  memset(&settings, 0, sizeof settings);
  snprintf(settings.state_dir, sizeof settings.state_dir, "%s/state", dir);
  snprintf(settings.runtime_dir, sizeof settings.runtime_dir, "%s/run", dir);
  assert_int_equal(settings_make_dirs(&settings, error, sizeof error), 0);
  assert_int_equal(chmod(settings.runtime_dir, 0755), 0);
  assert_int_equal(settings_make_dirs(&settings, error, sizeof error), -EPERM);
  assert_non_null(strstr(error, settings.runtime_dir));
  snprintf(link, sizeof link, "%s/link", dir);
  assert_int_equal(symlink(settings.state_dir, link), 0);
  memcpy(settings.runtime_dir, link, sizeof link);
  assert_int_equal(settings_make_dirs(&settings, error, sizeof error), -EPERM);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  assert_int_equal(system(command), 0);
}

static void an_ordinary_users_places_follow_the_environment(void **state) {
  (void)state;
  if (geteuid() == 0) {
    assert_int_equal(parse(NULL, NULL), 0);
    assert_true(settings.is_system);
    assert_string_equal(settings.state_dir, "/var/lib/fleetprof");
    assert_string_equal(settings.runtime_dir, "/run/fleetprof");
    return;
  }
  setenv("XDG_STATE_HOME", "/home/x/state", 1);
  setenv("XDG_RUNTIME_DIR", "/run/user/1", 1);
  assert_int_equal(parse(NULL, NULL), 0);
  assert_string_equal(settings.state_dir, "/home/x/state/fleetprof");
  assert_string_equal(settings.runtime_dir, "/run/user/1/fleetprof");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_a_state_directory_everything_is_in_it),
      cmocka_unit_test(the_defaults_are_those_of_the_manual),
      cmocka_unit_test(values_out_of_range_are_refused_by_name),
      cmocka_unit_test(the_collector_is_the_given_or_the_enrolled_one),
      cmocka_unit_test(directories_are_made_with_their_parents_and_closed_to_others),
      cmocka_unit_test(a_users_socket_directory_must_be_closed_to_others),
      cmocka_unit_test(an_ordinary_users_places_follow_the_environment),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
