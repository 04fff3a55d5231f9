/* SPDX-License-Identifier: Apache-2.0 */
/* A program's service name: by option, by command line, by file. */
#include "keeper/hold.h"
#include "targets/process_entry.h"
#include "targets/service_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static char file[64];

static struct process process_of(const char *exe, const char *begun_as) {
  struct process process = {.exe = file};
  snprintf(file, sizeof file, "%s", exe);
  snprintf(process.begun_as, sizeof process.begun_as, "%s", begun_as);
  snprintf(process.comm, sizeof process.comm, "renamed");
  return process;
}

static struct hold_target held_of(const char *exe) {
  struct hold_target held = {.pid = 1};
  snprintf(held.exe, sizeof held.exe, "%s", exe);
  return held;
}

static void what_was_said_stands_before_all(void **state) {
  (void)state;
  struct hold_target held = held_of("/usr/bin/redis-server");
  struct process process = process_of("/usr/bin/redis-check-rdb", "redis-server");
  snprintf(held.service, sizeof held.service, "cache");
  assert_string_equal(service_name(&held, &process), "cache");
  assert_string_equal(service_name(&held, NULL), "cache");
}

static void a_link_and_a_script_go_by_their_own_names(void **state) {
  (void)state;
  struct hold_target held = held_of("");
  struct process link = process_of("/usr/bin/redis-check-rdb", "redis-server");
  assert_string_equal(service_name(&held, &link), "redis-server");
  struct process script = process_of("/usr/bin/dash", "job.sh");
  assert_string_equal(service_name(&held, &script), "job.sh");
  struct process shorter = process_of("/usr/bin/python3.11", "python3"); /* no cut name of it */
  assert_string_equal(service_name(&held, &shorter), "python3");
}

static void a_name_that_the_kernel_cut_is_taken_from_where_it_is_whole(void **state) {
  (void)state;
  struct hold_target held = held_of("./collect-all-readings.sh");
  struct process program = process_of("/opt/a-program-with-a-long-name", "a-program-with-");
  assert_string_equal(service_name(&held, &program), "a-program-with-a-long-name");
  struct process script = process_of("/usr/bin/dash", "collect-all-rea");
  assert_string_equal(service_name(&held, &script), "collect-all-readings.sh");
  struct hold_target other = held_of("/bin/make");
  assert_string_equal(service_name(&other, &script), "collect-all-rea");
}

static void who_was_not_seen_to_begin_goes_by_his_file(void **state) {
  (void)state;
  struct hold_target held = held_of("./typed");
  struct process process = process_of("/usr/bin/node", "");
  assert_string_equal(service_name(&held, &process), "node");
  process.exe = NULL;
  assert_string_equal(service_name(&held, &process), "renamed");
  assert_string_equal(service_name(&held, NULL), "typed");
}

static void an_exec_by_descriptor_goes_by_its_file(void **state) {
  (void)state;
  struct hold_target held = held_of("");
  struct process process = process_of("/opt/prog", "3");
  assert_string_equal(service_name(&held, &process), "prog");
  struct process numbered = process_of("/usr/bin/7", "7"); /* is called so */
  assert_string_equal(service_name(&held, &numbered), "7");
  struct process script = process_of("/usr/bin/dash", "3rd.sh");
  assert_string_equal(service_name(&held, &script), "3rd.sh");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_said_stands_before_all),
      cmocka_unit_test(a_link_and_a_script_go_by_their_own_names),
      cmocka_unit_test(a_name_that_the_kernel_cut_is_taken_from_where_it_is_whole),
      cmocka_unit_test(an_exec_by_descriptor_goes_by_its_file),
      cmocka_unit_test(who_was_not_seen_to_begin_goes_by_his_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
