/* SPDX-License-Identifier: Apache-2.0 */
/* Accepted arguments of `run`, and that every rejection names the option. */
#include "cli/run_settings.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 40 };

static struct run_settings settings;

static int parse(const char *first, ...) {
  static char *words[WORDS_MAX]; /* settings.program points into it */
  memset(words, 0, sizeof words);
  words[0] = (char *)(uintptr_t) "run";
  int count = 1;
  va_list args;
  va_start(args, first);
  for (const char *word = first; word != NULL; word = va_arg(args, const char *))
    words[count++] = (char *)(uintptr_t)word;
  va_end(args);
  return run_settings_parse(count, words, &settings);
}

#define REFUSED(name, ...)                               \
  do {                                                   \
    assert_int_equal(parse(__VA_ARGS__, NULL), -EINVAL); \
    assert_non_null(strstr(settings.error, name));       \
  } while (0)

static void only_stacks_and_pairs_without_a_rate_have_an_automatic_one(void **state) {
  (void)state;
  assert_int_equal(parse("--collect", "pc-lr", "true", NULL), 0);
  assert_true(settings.is_auto_rate);
  assert_int_equal(parse("--hz", "1000", "true", NULL), 0);
  assert_false(settings.is_auto_rate);
  assert_int_equal(settings.asked_mhz, 1000000);
  static const char *const plain[][2] = {
      {"--collect", "histogram"}, {"--collect", "recorder"}, {"--sampler", "itimer"}};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    assert_int_equal(parse(plain[i][0], plain[i][1], "true", NULL), 0);
    assert_false(settings.is_auto_rate);
    assert_int_equal(settings.asked_mhz, 99000);
  }
}

static void defaults_are_those_of_the_help(void **state) {
  (void)state;
  assert_int_equal(parse("--", "true", NULL), 0);
  assert_true(settings.is_auto_rate);
  assert_int_equal(settings.asked_mhz, 1000000);
  assert_int_equal(settings.sampler, RUN_SAMPLER_AUTO);
  assert_int_equal(settings.options.flush_timeout_ns, 10000000000ULL);
  assert_string_equal(settings.labels, "");
  assert_string_equal(settings.program[0], "true");
}

static void the_programs_own_options_are_left_to_it(void **state) {
  (void)state;
  assert_int_equal(parse("--hz", "10", "ls", "--hz", "0", NULL), 0);
  assert_int_equal(settings.asked_mhz, 10000);
  assert_string_equal(settings.program[1], "--hz");
  assert_int_equal(parse("--", "--odd", NULL), 0);
  assert_string_equal(settings.program[0], "--odd");
}

static void rates_are_read_to_the_thousandth(void **state) {
  (void)state;
  assert_int_equal(parse("--hz=1", "true", NULL), 0);
  assert_int_equal(settings.asked_mhz, 1000);
  assert_int_equal(parse("--hz=10000", "true", NULL), 0);
  assert_int_equal(settings.asked_mhz, 10000000);
  assert_int_equal(parse("--hz=0.1", "true", NULL), 0);
  assert_int_equal(settings.asked_mhz, 100);
  assert_int_equal(parse("--hz=99.5", "true", NULL), 0);
  assert_int_equal(settings.asked_mhz, 99500);
  static const char *const bad[] = {"0",
                                    "0.099",
                                    "10000.001",
                                    "10001",
                                    "",
                                    "-1",
                                    "99hz",
                                    "9.9.9",
                                    "1e3",
                                    " 9",
                                    "99999999999999999999",
                                    "1.2345"};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    REFUSED("--hz: '", "--hz", bad[i], "true");
}

static void a_name_that_is_none_is_told_from_one_of_a_later_version(void **state) {
  (void)state;
  REFUSED("--sampler: there is no 'magic'", "--sampler", "magic", "true");
  REFUSED("--sampler: 'ptrace' is not supported", "--sampler", "ptrace", "true");
  REFUSED("--unwind: there is no 'magic'", "--unwind", "magic", "true");
  REFUSED("--collect: there is no 'everything'", "--collect", "everything", "true");
  REFUSED("--output: '' is not the name of a file", "--output", "", "true");
  REFUSED("--state: '' is not the name of a file", "--state", "", "true");
  assert_int_equal(parse("--sampler", "timer", "--unwind", "fp", "true", NULL), 0);
  assert_int_equal(settings.sampler, RUN_SAMPLER_TIMER);
  assert_string_equal(run_settings_agent(&settings), "timer");
}

static void callers_are_asked_for_only_where_there_are_some(void **state) {
  (void)state;
  assert_int_equal(parse("--unwind", "none", "true", NULL), 0);
  assert_int_equal(settings.unwind, UNWIND_CHOICE_NONE);
  assert_int_equal(parse("--unwind", "lr", "true", NULL), 0);
  assert_int_equal(settings.collect.collect, RING_PC_LR);
  assert_int_equal(parse("--unwind", "lr", "--collect", "pc-lr", "true", NULL), 0);
  REFUSED("--unwind: --collect pc-lr", "--unwind", "fp", "--collect", "pc-lr", "true");
  assert_int_equal(parse("--unwind", "cfi", "true", NULL), 0);
  assert_int_equal(parse("--unwind", "cfi", "--sampler", "timer", "true", NULL), 0);
  assert_int_equal(settings.unwind, UNWIND_CHOICE_CFI);
  REFUSED("--unwind: a histogram", "--unwind", "none", "--collect", "histogram", "true");
  REFUSED("--unwind: a histogram", "--unwind", "lr", "--collect", "recorder", "true");
  setenv("FLEETPROF_UNWIND", "fp", 1); /* set by an outer run */
  assert_int_equal(parse("--collect", "histogram", "true", NULL), 0);
  assert_int_equal(settings.unwind, UNWIND_CHOICE_AUTO);
  assert_int_equal(parse("true", NULL), 0);
  assert_int_equal(settings.unwind, UNWIND_CHOICE_FP);
  unsetenv("FLEETPROF_UNWIND");
}

static void an_itimer_must_be_named(void **state) {
  (void)state;
  assert_int_equal(parse("true", NULL), 0);
  assert_string_equal(run_settings_agent(&settings), "timer");
  assert_int_equal(parse("--sampler", "itimer", "true", NULL), 0);
  assert_string_equal(run_settings_agent(&settings), "itimer");
  assert_int_equal(parse("--sampler", "itimer-virtual", "true", NULL), 0);
  assert_string_equal(run_settings_agent(&settings), "itimer-virtual");
  REFUSED("--sampler: there is no 'itimer-real'", "--sampler", "itimer-real", "true");
}

static void labels_come_out_one_a_line(void **state) {
  (void)state;
  assert_int_equal(parse("--label", "a=1", "--label", "b_2=x;y=z", "--label", "c=", "true", NULL),
                   0);
  assert_string_equal(settings.labels, "a=1\nb_2=x;y=z\nc=");
}

static void a_label_that_is_none_is_refused_by_name(void **state) {
  (void)state;
  static const char *const bad[] = {"nonsense", "=v",   "1a=v",     "a b=v",  "a-b=v",
                                    "board=me", "a=\n", "kernel=1", "a=\x7f", ""};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    REFUSED("--label", "--label", bad[i], "true");
  char large[400];
  memset(large, 'v', sizeof large - 1);
  large[sizeof large - 1] = '\0';
  large[1] = '=';
  REFUSED("too long", "--label", large, "true");
  char labels[5][251];
  large[250] = '\0';
  for (int i = 0; i < 5; i++) {
    memcpy(labels[i], large, sizeof labels[i]);
    labels[i][0] = (char)('a' + i);
  }
  REFUSED("one too many", "-l", labels[0], "-l", labels[1], "-l", labels[2], "-l", labels[3], "-l",
          labels[4], "true");
}

static void each_collect_mode_takes_its_own_sizes(void **state) {
  (void)state;
  assert_int_equal(parse("true", NULL), 0);
  assert_int_equal(settings.collect.collect, RING_STACKS);
  assert_int_equal(parse("--collect", "pc-lr", "--sampler", "perf", "true", NULL), 0);
  assert_int_equal(settings.collect.collect, RING_PC_LR);
  assert_int_equal(
      parse("--collect=histogram", "--bin-bytes=64", "--counter-bytes=1", "true", NULL), 0);
  assert_int_equal(settings.collect.collect, RING_HISTOGRAM);
  assert_int_equal(settings.collect.bin_bytes, 64);
  assert_int_equal(settings.collect.counter_bytes, 1);
  assert_int_equal(parse("--collect=recorder", "--last=4", "true", NULL), 0);
  assert_int_equal(settings.collect.last, 4);
  const char *const bins[] = {"0", "1", "3", "8192", "16k", "-16", "", "99999999999"};
  for (size_t i = 0; i < sizeof bins / sizeof *bins; i++)
    REFUSED("--bin-bytes: '", "--collect=histogram", "--bin-bytes", bins[i], "true");
  REFUSED("--counter-bytes: '3'", "--collect=histogram", "--counter-bytes", "3", "true");
  REFUSED("--last: '2'", "--collect=recorder", "--last", "2", "true");
  REFUSED("--last: '131071'", "--collect=recorder", "--last", "131071", "true");
}

static void a_size_of_another_mode_is_refused_unless_inherited(void **state) {
  (void)state;
  REFUSED("--bin-bytes: only", "--bin-bytes=64", "true");
  REFUSED("--counter-bytes: only", "--collect=recorder", "--counter-bytes=1", "true");
  REFUSED("--last: only", "--collect=histogram", "--last=10", "true");
  setenv("FLEETPROF_LAST", "10", 1);
  assert_int_equal(parse("--collect=histogram", "true", NULL), 0);
  unsetenv("FLEETPROF_LAST");
}

static void what_only_the_agent_can_write_is_not_asked_of_perf(void **state) {
  (void)state;
  REFUSED("--sampler perf: ", "--sampler=perf", "--collect=histogram", "true");
  REFUSED("--sampler perf: ", "--sampler=perf", "--collect=recorder", "true");
  assert_int_equal(parse("--sampler=timer", "--collect=recorder", "true", NULL), 0);
}

static void a_collector_is_refused_before_the_program_starts(void **state) {
  (void)state;
  static const char *const bad[] = {"junk",  "host:99999", "host:0", ":7443",
                                    "host:", "::1:7443",   ""};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++)
    REFUSED("--collector", "--collector", bad[i], "true");
  assert_int_equal(parse("--collector", "[::1]:7443", "true", NULL), 0);
  assert_int_equal(parse("--collector", "host.example:65535", "true", NULL), 0);
}

static void a_label_is_given_once(void **state) {
  (void)state;
  REFUSED("given before", "-l", "a=1", "-l", "b=1", "-l", "a=2", "true");
  assert_int_equal(parse("-l", "a=1", "-l", "ab=1", "true", NULL), 0);
}

static void an_empty_state_is_refused(void **state) {
  (void)state;
  REFUSED("--state", "--state", "", "true");
}

static void a_service_must_fit_its_field(void **state) {
  (void)state;
  char name[INTAKE_SERVICE_BYTES + 1];
  memset(name, 's', sizeof name);
  name[INTAKE_SERVICE_BYTES - 1] = '\0';
  assert_int_equal(parse("--service", name, "true", NULL), 0);
  name[INTAKE_SERVICE_BYTES - 1] = 's';
  name[INTAKE_SERVICE_BYTES] = '\0';
  REFUSED("--service", "--service", name, "true");
  REFUSED("--service", "--service", "a\nb", "true");
}

static void a_missing_program_is_named(void **state) {
  (void)state;
  REFUSED("program", "--hz", "9");
  REFUSED("program", "--");
  REFUSED("program", "--", "");
  assert_int_equal(parse(NULL), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(defaults_are_those_of_the_help),
      cmocka_unit_test(only_stacks_and_pairs_without_a_rate_have_an_automatic_one),
      cmocka_unit_test(the_programs_own_options_are_left_to_it),
      cmocka_unit_test(rates_are_read_to_the_thousandth),
      cmocka_unit_test(callers_are_asked_for_only_where_there_are_some),
      cmocka_unit_test(an_itimer_must_be_named),
      cmocka_unit_test(a_name_that_is_none_is_told_from_one_of_a_later_version),
      cmocka_unit_test(labels_come_out_one_a_line),
      cmocka_unit_test(a_label_that_is_none_is_refused_by_name),
      cmocka_unit_test(each_collect_mode_takes_its_own_sizes),
      cmocka_unit_test(a_size_of_another_mode_is_refused_unless_inherited),
      cmocka_unit_test(what_only_the_agent_can_write_is_not_asked_of_perf),
      cmocka_unit_test(a_collector_is_refused_before_the_program_starts),
      cmocka_unit_test(a_label_is_given_once),
      cmocka_unit_test(an_empty_state_is_refused),
      cmocka_unit_test(a_service_must_fit_its_field),
      cmocka_unit_test(a_missing_program_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
