/* SPDX-License-Identifier: Apache-2.0 */
/* Translators that answer, keep their answers, die, hang and miscount. */
#include "profile_fixture.h"

#include "elf/module_file.h"
#include "report/translator.h"
#include "translate/answer_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

static struct arena arena;

static int set_up(void **state) {
  (void)state;
  arena_init(&arena, 16 << 20);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  arena_fini(&arena);
  return 0;
}

/* A profile of COUNT addresses in one module. */
static void fill(struct profile *profile, uint64_t count) {
  const struct batch_module module = {span_of("\xab\xcd", 2), "/opt/tool", 1, MODULE_ELF};
  assert_int_equal(profile_init(profile), 0);
  for (uint64_t i = 0; i < count; i++)
    assert_int_equal(profile_add_leaf(profile, &module, 0x1000 + i, 1, 1), 0);
}

static int run(const char *command, uint64_t count, struct profile *profile, struct answer **ret,
               char *why) {
  const struct translator translator = {command, 500};
  fill(profile, count);
  *ret = calloc(count, sizeof **ret);
  return translator_name(&translator, profile, 0, &arena, *ret, why);
}

static void ask_all(const char *command, uint64_t count) {
  struct profile profile;
  struct answer *names;
  char why[TRANSLATOR_WHY_BYTES] = "", wanted[64];
  if (run(command, count, &profile, &names, why) != 0) fail_msg("%s: %s", command, why);
  for (uint64_t i = 0; i < count; i++) {
    snprintf(wanted, sizeof wanted, "at 0x%llx", (unsigned long long)(0x1000 + i));
    assert_int_equal(names[i].count, 1);
    assert_string_equal(names[i].frames[0].name, wanted);
  }
  free(names);
  profile_fini(&profile);
}

static void each_address_gets_its_own_answer(void **state) {
  (void)state;
  ask_all("while read -r a; do echo \"at $a\"; done", 300); /* at once */
  ask_all("sed 's/^/at /'", 40000);                         /* buffered, several processes */
  ask_all("sed 's/^/at /'; exec >&-; sleep 100", 10); /* it still runs after its last answer */
  ask_all("a=$(cat); printf %s \"$a\" | sed 's/^/at /'", 300); /* no newline at the end */
  ask_all("a=$(cat); echo \"$a\" | sed 's/^/at /'", 16384);    /* at the end of all */
}

static void it_knows_its_module(void **state) {
  struct profile profile;
  struct answer *names;
  char why[TRANSLATOR_WHY_BYTES] = "";
  (void)state;
  assert_int_equal(run("sed \"s|.*|$MODULE $BUILD_ID|\"", 1, &profile, &names, why), 0);
  assert_string_equal(names[0].frames[0].name, "/opt/tool abcd");
  assert_true(translator_takes_module(&(struct translator){"addr2line -e $MODULE", 1}));
  assert_false(translator_takes_module(&(struct translator){"addr2line -e x", 1}));
  free(names);
  profile_fini(&profile);
}

static void assert_fails(const char *command, int error, const char *word) {
  struct profile profile;
  struct answer *names;
  char why[TRANSLATOR_WHY_BYTES] = "";
  assert_int_equal(run(command, 5000, &profile, &names, why), error);
  if (strstr(why, word) == NULL) fail_msg("'%s' does not say '%s'", why, word);
  for (int i = 0; i < 5000; i++) assert_int_equal(names[i].count, 0);
  free(names);
  profile_fini(&profile);
}

static void what_fails_is_said_and_names_nothing(void **state) {
  (void)state;
  assert_fails("exit 3", -EBADMSG, "status 3");
  assert_fails("echo one line", -EBADMSG, "do not come out even");
  assert_fails("cat", -EREMCHG, "gives its addresses back as they are");
  assert_fails("sleep 100", -ETIMEDOUT, "ended");
  assert_fails("sed 's/^/at /' | head -n 4999", -EBADMSG, "do not come out even");
  assert_fails("sed 's/^/at /'; echo more", -EBADMSG, "do not come out even");
  assert_fails("yes | head -c 80000000", -EOVERFLOW, "");
}

static void one_that_fell_over_once_is_started_again(void **state) {
  char command[256], mark[] = "/tmp/translator_test.XXXXXX";
  int fd = mkstemp(mark);
  (void)state;
  assert_true(fd >= 0);
  close(fd);
  snprintf(command, sizeof command, "if [ -e %s ]; then rm %s; exit 1; fi; sed 's/^/at /'", mark,
           mark);
  ask_all(command, 10);
}

static void it_is_asked_of_what_is_there_alone(void **state) {
  (void)state;
  const struct translator by_path = {"x -e $MODULE", 1}, by_id = {"x $MODULE $BUILD_ID", 1},
                          by_itself = {"x -e y", 1};
  struct module_stamp stamp;
  struct module_identity own;
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  char path[4096] = "";
  assert_true(fd >= 0 && readlink("/proc/self/exe", path, sizeof path - 1) > 0);
  assert_int_equal(module_file_stamp(fd, &stamp), 0);
  assert_int_equal(module_file_identify(fd, &stamp, &own), 0);
  close(fd);
  struct profile_module here = {.id = span_of(own.id, own.id_bytes), .path = path};
  struct profile_module gone = here, rebuilt = here, of_no_file = here;
  gone.path = "/no/such/tool";
  rebuilt.id = span_of("\xab\xcd", 2);
  of_no_file.path = "[kernel]";
  assert_true(translator_can_read(&by_path, &here));
  assert_false(translator_can_read(&by_path, &gone));
  assert_false(translator_can_read(&by_path, &rebuilt));
  assert_false(translator_can_read(&by_path, &of_no_file));
  assert_true(translator_can_read(&by_id, &of_no_file));
  assert_true(translator_can_read(&by_id, &gone));
  assert_true(translator_can_read(&by_itself, &rebuilt));
  static const char *const by_bare_path[] = {
      "x -e ${MODULE}",          "x -e \"$MODULE\" -f", "x --exe=$MODULE",
      "x --exe='$MODULE'",       "x - $MODULE;",        "$MODULE",
      "sh -c 'x \"$MODULE\"'|y", "x $MODULE ${MODULE}",
  };
  static const char *const elsewhere[] = {
      "x -e /srv/sysroot$MODULE", "x -e /srv/${MODULE}",           "x -e \"/srv$MODULE\"",
      "x -e /srv\"$MODULE\"",     "x --exe=/srv$MODULE",           "x -e $MODULE.debug",
      "x \"$ROOT$MODULE\"",       "x -e $MODULE || x /srv$MODULE", "by-my-MODULE",
  };
  for (size_t i = 0; i < sizeof by_bare_path / sizeof *by_bare_path; i++)
    assert_false(translator_can_read(&(struct translator){by_bare_path[i], 1}, &gone));
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    assert_true(translator_can_read(&(struct translator){elsewhere[i], 1}, &gone));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_is_asked_of_what_is_there_alone),
      cmocka_unit_test_setup_teardown(each_address_gets_its_own_answer, set_up, tear_down),
      cmocka_unit_test_setup_teardown(it_knows_its_module, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_fails_is_said_and_names_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(one_that_fell_over_once_is_started_again, set_up, tear_down),
  };
  signal(SIGPIPE, SIG_IGN); /* required by the contract */
  return cmocka_run_group_tests(tests, NULL, NULL);
}
