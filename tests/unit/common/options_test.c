/* SPDX-License-Identifier: Apache-2.0 */
#include "common/options.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct settings {
  bool verbose;
  const char *state;
  struct option_list labels;
  uint64_t hz, spool_bytes, budget_bytes, ttl_ns;
  double budget_cpu;
};

#define AT(field) offsetof(struct settings, field)
static const struct option rows[] = {
    {"verbose", 'v', NULL, NULL, "Output", "say more", OPTION_FLAG, AT(verbose)},
    {"state", 0, "DIR", NULL, "Places", "where everything lives", OPTION_PATH, AT(state)},
    {"label", 'l', "K=V", NULL, "Places", "a label; may be repeated", OPTION_LIST, AT(labels)},
    {"hz", 'z', "HZ", "99", "Sampling", "samples a second", OPTION_COUNT, AT(hz)},
    {"spool-bytes", 0, "SIZE", "64M", "Limits", "spool size", OPTION_BYTES, AT(spool_bytes)},
    {"budget-bytes", 0, "SIZE/day", "5M/day", "Limits", "bytes a day", OPTION_BYTES_DAY,
     AT(budget_bytes)},
    {"ttl", 0, "TIME", "1h", "Limits", "how long", OPTION_DURATION, AT(ttl_ns)},
    {"budget-cpu", 0, "SHARE", "0.5%", "Limits", "of one CPU", OPTION_PERCENT, AT(budget_cpu)},
};
static const char *const other_names[] = {"token", "format", NULL};
static bool is_usual_state(const char *dir) {
  return strcmp(dir, "/usual") == 0;
}

static const struct option_table table = {
    .usage = "fleetprof run [OPTION]... -- PROGRAM ARG...",
    .summary = "Runs a program and profiles it.",
    .epilogue = "EXAMPLES\n  fleetprof run -- true",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = other_names,
    .is_usual_state = is_usual_state,
};

static struct settings settings;
static struct options_result result;
static char error[256];

/* Parses the words up to NULL; the program's name is put before them. */
static int parse(const char *first, ...) {
  char *argv[16] = {(char *)(uintptr_t) "fleetprof"};
  int argc = 1;
  va_list words;
  va_start(words, first);
  for (const char *word = first; word != NULL; word = va_arg(words, const char *))
    argv[argc++] = (char *)(uintptr_t)word;
  va_end(words);
  settings = (struct settings){0};
  result = (struct options_result){0};
  error[0] = '\0';
  return options_parse(&table, argc, argv, &settings, &result, error, sizeof error);
}

static void expect_refusal(int got, const char *wanted) {
  assert_int_equal(got, -EINVAL);
  assert_string_equal(error, wanted);
}

/* A config file that lives in memory; PATH names it. */
static char path[64];
static int file = -1;

static void write_file(const char *text, size_t len) {
  if (file >= 0) close(file);
  file = memfd_create("config", MFD_CLOEXEC);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, len), (ssize_t)len);
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
}

/* Opens PATH as the default file; USUAL_OPENED is the last requested path. */
FILE *__real_fopen64(const char *name, const char *mode);
FILE *__wrap_fopen64(const char *name, const char *mode);
static bool has_usual_file;
static char usual_opened[64];

FILE *__wrap_fopen64(const char *name, const char *mode) {
  if (strncmp(name, "/etc/fleetprof/", 15) != 0) return __real_fopen64(name, mode);
  snprintf(usual_opened, sizeof usual_opened, "%s", name);
  if (has_usual_file) return __real_fopen64(path, mode);
  errno = ENOENT;
  return NULL;
}

static void expect_file_refusal(const char *text, const char *wanted) {
  char whole[256];
  write_file(text, strlen(text));
  snprintf(whole, sizeof whole, "%s%s", path, wanted);
  expect_refusal(parse("--config", path, NULL), whole);
}

static int close_file(void **state) {
  (void)state;
  if (file >= 0) close(file);
  file = -1;
  has_usual_file = false;
  usual_opened[0] = '\0';
  unsetenv("FLEETPROF_HZ");
  unsetenv("FLEETPROF_LABEL");
  unsetenv("FLEETPROF_CONFIG");
  unsetenv("FLEETPROF_SPOOL_BYTES");
  return 0;
}

static void defaults_come_from_the_table(void **state) {
  (void)state;
  assert_int_equal(parse(NULL), 0);
  assert_false(settings.verbose);
  assert_null(settings.state);
  assert_int_equal(settings.labels.count, 0);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(settings.spool_bytes, 64 << 20);
  assert_int_equal(settings.budget_bytes, 5 << 20);
  assert_true(settings.ttl_ns == UINT64_C(3600000000000));
  assert_true(settings.budget_cpu > 0.499 && settings.budget_cpu < 0.501);
  assert_int_equal(result.first_positional, 1);
  assert_false(result.is_done);
}

static void every_form_of_an_option_is_taken(void **state) {
  (void)state;
  assert_int_equal(parse("--hz=10", "--state", "/s", "-l", "a=b", "-lc=d", "--label=e=f", "-v",
                         "--budget-bytes", "3M", NULL),
                   0);
  assert_int_equal(settings.hz, 10);
  assert_string_equal(settings.state, "/s");
  assert_int_equal(settings.labels.count, 3);
  assert_string_equal(settings.labels.values[0], "a=b");
  assert_string_equal(settings.labels.values[1], "c=d");
  assert_string_equal(settings.labels.values[2], "e=f");
  assert_int_equal(settings.budget_bytes, 3 << 20);
  assert_true(settings.verbose);
  assert_int_equal(parse("-v", "--verbose=no", NULL), 0);
  assert_false(settings.verbose);
}

static void options_end_at_the_first_other_word(void **state) {
  (void)state;
  assert_int_equal(parse("-v", "prog", "--hz", "nonsense", NULL), 0);
  assert_int_equal(result.first_positional, 2);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(parse("-v", "--", "--hz", "1", NULL), 0);
  assert_int_equal(result.first_positional, 3);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(parse("-", NULL), 0);
  assert_int_equal(result.first_positional, 1);
  assert_int_equal(parse("prog", "--help", NULL), 0);
  assert_false(result.is_done);
}

static void the_stronger_source_wins(void **state) {
  (void)state;
  static const char text[] = "hz = 20\nspool-bytes = 20\nlabel = file=1\nlabel = file=2\n";
  write_file(text, sizeof text - 1);
  setenv("FLEETPROF_HZ", "10", 1);
  setenv("FLEETPROF_SPOOL_BYTES", "", 1);
  setenv("FLEETPROF_LABEL", "env=1;;env=2;env=3", 1);
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.hz, 10);
  assert_int_equal(settings.spool_bytes, 64 << 20); /* empty counts as unset */
  assert_int_equal(settings.labels.count, 3);
  assert_string_equal(settings.labels.values[2], "env=3");
  assert_int_equal(parse("--config", path, NULL), 0);
  assert_int_equal(settings.hz, 20);
  assert_int_equal(settings.spool_bytes, 20);
  assert_int_equal(settings.labels.count, 2); /* a list is replaced as a whole */
  assert_string_equal(settings.labels.values[0], "file=1");
  assert_int_equal(parse("--hz", "30", "--config", path, "-l", "cli=1", NULL), 0);
  assert_int_equal(settings.hz, 30);
  assert_int_equal(settings.labels.count, 1);
  assert_string_equal(settings.labels.values[0], "cli=1");
  setenv("FLEETPROF_CONFIG", path, 1);
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.hz, 20);
}

static void where_newlines_part_a_list_an_item_may_hold_a_semicolon(void **state) {
  (void)state;
  setenv("FLEETPROF_LABEL", "path=a;b\n\nline=7\n", 1);
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.labels.count, 2);
  assert_string_equal(settings.labels.values[0], "path=a;b");
  assert_string_equal(settings.labels.values[1], "line=7");
}

static void the_usual_file_is_read_where_there_is_one(void **state) {
  (void)state;
  static const char text[] = "hz = 20\ntoken = of enroll\n";
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.hz, 99);
  assert_string_equal(usual_opened, "/etc/fleetprof/fleetprof.conf");
  write_file(text, sizeof text - 1);
  has_usual_file = true;
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.hz, 20);
  assert_int_equal(parse("--hz", "30", NULL), 0);
  assert_int_equal(settings.hz, 30);
}

static void a_given_file_or_board_keeps_the_usual_file_out(void **state) {
  (void)state;
  has_usual_file = true;
  write_file("hz = 20\n", 8);
  assert_int_equal(parse("--state", "/s", NULL), 0);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(parse("--state", "/usual", NULL), 0);
  assert_int_equal(settings.hz, 20); /* as good as none */
  usual_opened[0] = '\0';
  assert_int_equal(parse("--config", "", NULL), 0);
  assert_int_equal(settings.hz, 99);
  assert_int_equal(parse("--config", "/dev/null", NULL), 0);
  assert_int_equal(settings.hz, 99);
  setenv("FLEETPROF_CONFIG", "/dev/null", 1);
  assert_int_equal(parse(NULL), 0);
  assert_int_equal(settings.hz, 99);
  assert_string_equal(usual_opened, "");
}

static void a_subcommand_with_no_names_of_others_has_no_usual_file(void **state) {
  (void)state;
  static const char *const usages[] = {"p sub --data DIR", "p [OPTION]...", "p --data DIR", "p"};
  for (unsigned i = 0; i < 4; i++) {
    struct option_table alone = {.usage = usages[i]};
    char *argv[] = {(char *)(uintptr_t) "p", NULL};
    usual_opened[0] = '\0';
    assert_int_equal(options_parse(&alone, 1, argv, &settings, &result, error, sizeof error), 0);
    assert_string_equal(usual_opened, i == 0 ? "" : "/etc/fleetprof/p.conf");
  }
}

static void what_nobody_knows_is_refused_in_the_usual_file_too(void **state) {
  (void)state;
  char wanted[128];
  has_usual_file = true;
  write_file("token = x\nhzz = 1\n", 18);
  snprintf(wanted, sizeof wanted, "%s",
           "/etc/fleetprof/fleetprof.conf:2: hzz: unknown option; the "
           "nearest known one is 'hz'");
  expect_refusal(parse(NULL), wanted);
}

static void a_wrong_word_is_refused_by_name(void **state) {
  (void)state;
  expect_refusal(parse("--hzz", "1", NULL), "--hzz: unknown option; the nearest known one is --hz");
  expect_refusal(parse("--spool-byte=1", NULL),
                 "--spool-byte: unknown option; the nearest known one is --spool-bytes");
  expect_refusal(parse("--halp", NULL), "--halp: unknown option; the nearest known one is --help");
  expect_refusal(parse("--foo", NULL), "--foo: unknown option; see --help");
  expect_refusal(parse("--x", NULL), "--x: unknown option; see --help");
  expect_refusal(parse("-q", NULL), "-q: unknown option; see --help");
  expect_refusal(parse("--hz", NULL), "--hz: needs a value: HZ");
  expect_refusal(parse("--config", NULL), "--config: needs a value: FILE");
  expect_refusal(parse("--hz", "--", NULL),
                 "--hz: needs a value: HZ (for one like '--' write --hz=--)");
  expect_refusal(parse("--hz", "--verbose", NULL),
                 "--hz: needs a value: HZ (for one like '--verbose' write --hz=--verbose)");
  expect_refusal(parse("--hz", "x\ny", NULL), "--hz: 'x?y' is not a whole number");
  expect_refusal(parse("--hz", "-1", NULL), "--hz: '-1' is not a whole number");
  expect_refusal(parse("--ttl=10", NULL),
                 "--ttl: '10' is not a duration such as 250ms, 10s, 5m, 24h or 30d");
  expect_refusal(parse("--budget-cpu=1/2", NULL),
                 "--budget-cpu: '1/2' is not a percentage such as 0.5%");
  expect_refusal(parse("--verbose=maybe", NULL), "--verbose: 'maybe' is not yes or no");
  expect_refusal(parse("--help=me", NULL), "--help: takes no value");
  setenv("FLEETPROF_HZ", "ten", 1);
  expect_refusal(parse(NULL), "FLEETPROF_HZ: 'ten' is not a whole number");
}

static void what_the_command_line_says_is_told_from_what_all_commands_share(void **state) {
  (void)state;
  static char first[] = "p", word[] = "--state=here", name[] = "--state", value[] = "there";
  char *argv[] = {first, word, name, value, NULL};
  assert_true(options_is_on_line(4, argv, word + 8));
  assert_true(options_is_on_line(4, argv, value));
  assert_false(options_is_on_line(4, argv, "there, in a file"));
}

static void a_path_that_is_empty_is_refused(void **state) {
  (void)state;
  expect_refusal(parse("--state", "", NULL), "--state: '' is not the name of a file or directory");
  expect_refusal(parse("--state=", NULL), "--state: '' is not the name of a file or directory");
}

static void a_wrong_line_of_a_file_is_refused_by_place(void **state) {
  (void)state;
  expect_file_refusal("# comment\n\nhz = 1\nhzz = 2\n",
                      ":4: hzz: unknown option; the nearest known one is 'hz'");
  expect_file_refusal("foo = 1\n", ":1: foo: unknown option; see --help");
  expect_file_refusal("hz = 1\n[agent]\nhz = 2\n", ":2: sections are not used here");
  expect_file_refusal("hz = many\n", ":1: hz: 'many' is not a whole number");
  expect_file_refusal("hz = 1\nhello\n", ":2: not a 'name = value' line");
  char text[400];
  memset(text, 'x', sizeof text);
  snprintf(text, sizeof text, "hz = 1\nstate = %0300d\n", 1);
  expect_file_refusal(text, ":2: the line is longer than 198 bytes or holds a NUL byte");
  expect_refusal(parse("--config", "/nowhere/x", NULL), "/nowhere/x: No such file or directory");
  expect_refusal(parse("--config", "/tmp", NULL), "/tmp: Is a directory");
}

static void a_nul_byte_in_a_file_is_refused(void **state) {
  (void)state;
  static const char text[] = "hz = 1\0 2\n";
  char wanted[128];
  write_file(text, sizeof text - 1);
  snprintf(wanted, sizeof wanted, "%s:1: the line is longer than 198 bytes or holds a NUL byte",
           path);
  expect_refusal(parse("--config", path, NULL), wanted);
}

static void an_indented_line_is_a_line_of_its_own(void **state) {
  (void)state;
  static const char text[] = "state = /s ; where\n  hz = 5\n\tverbose = yes";
  write_file(text, sizeof text - 1);
  assert_int_equal(parse("--config", path, NULL), 0);
  assert_string_equal(settings.state, "/s");
  assert_int_equal(settings.hz, 5);
  assert_true(settings.verbose);
}

static void a_list_is_bounded(void **state) {
  (void)state;
  char text[OPTION_LIST_MAX * 16] = "";
  for (int i = 0; i <= OPTION_LIST_MAX; i++) {
    size_t len = strlen(text);
    snprintf(text + len, sizeof text - len, "a=%d;", i);
  }
  setenv("FLEETPROF_LABEL", text, 1);
  expect_refusal(parse(NULL), "FLEETPROF_LABEL: more than 32 values");
}

/* Runs parse with stdout in a pipe and returns the output. */
static const char *printed(const char *word) {
  static char text[16384];
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  int got = parse(word, NULL);
  fflush(stdout);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(ends[1]);
  ssize_t len = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  assert_int_equal(got, 0);
  assert_true(result.is_done);
  text[len > 0 ? len : 0] = '\0';
  return text;
}

static void help_shows_every_option_with_default_and_environment(void **state) {
  (void)state;
  const char *text = printed("--help");
  assert_non_null(strstr(text, "Usage: fleetprof run [OPTION]... -- PROGRAM ARG...\n"));
  assert_non_null(strstr(text, "\nSampling:\n"));
  assert_non_null(strstr(text, "-z, --hz HZ"));
  assert_non_null(strstr(text, "samples a second [99] [FLEETPROF_HZ]"));
  assert_non_null(strstr(text, "[64M] [FLEETPROF_SPOOL_BYTES]"));
  assert_non_null(strstr(text, "[no] [FLEETPROF_VERBOSE]"));
  assert_non_null(strstr(text, "[none] [FLEETPROF_STATE]"));
  assert_non_null(strstr(text, "[none] [FLEETPROF_CONFIG]"));
  assert_non_null(strstr(text, "/etc/fleetprof/fleetprof.conf"));
  assert_non_null(strstr(text, "EXAMPLES"));
  for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
    assert_true(strcspn(line, "\n") <= 100);
  assert_string_equal(printed("-h"), text);
}

static void version_names_the_program(void **state) {
  (void)state;
  assert_string_equal(printed("--version"), "fleetprof run " FLEETPROF_VERSION "\n");
  assert_string_equal(printed("-V"), "fleetprof run " FLEETPROF_VERSION "\n");
}

static void help_wins_over_wrong_values(void **state) {
  (void)state;
  setenv("FLEETPROF_HZ", "ten", 1);
  assert_non_null(strstr(printed("--help"), "Usage:"));
}

static void values_are_read_alone_too(void **state) {
  (void)state;
  uint64_t bytes = 0;
  assert_int_equal(options_parse_value(OPTION_BYTES, "1.5GiB", &bytes), 0);
  assert_true(bytes == UINT64_C(3) << 29);
  assert_int_equal(options_parse_value(OPTION_BYTES, "5M/day", &bytes), -EINVAL);
  assert_int_equal(options_parse_value(OPTION_BYTES_DAY, "/day", &bytes), -EINVAL);
  assert_int_equal(options_parse_value(OPTION_BYTES, "99999999999T", &bytes), -EINVAL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(defaults_come_from_the_table, close_file),
      cmocka_unit_test_teardown(every_form_of_an_option_is_taken, close_file),
      cmocka_unit_test_teardown(options_end_at_the_first_other_word, close_file),
      cmocka_unit_test_teardown(the_stronger_source_wins, close_file),
      cmocka_unit_test(where_newlines_part_a_list_an_item_may_hold_a_semicolon),
      cmocka_unit_test_teardown(the_usual_file_is_read_where_there_is_one, close_file),
      cmocka_unit_test_teardown(a_given_file_or_board_keeps_the_usual_file_out, close_file),
      cmocka_unit_test_teardown(a_subcommand_with_no_names_of_others_has_no_usual_file, close_file),
      cmocka_unit_test_teardown(what_nobody_knows_is_refused_in_the_usual_file_too, close_file),
      cmocka_unit_test_teardown(a_wrong_word_is_refused_by_name, close_file),
      cmocka_unit_test_teardown(what_the_command_line_says_is_told_from_what_all_commands_share,
                                close_file),
      cmocka_unit_test_teardown(a_path_that_is_empty_is_refused, close_file),
      cmocka_unit_test_teardown(a_wrong_line_of_a_file_is_refused_by_place, close_file),
      cmocka_unit_test_teardown(a_nul_byte_in_a_file_is_refused, close_file),
      cmocka_unit_test_teardown(an_indented_line_is_a_line_of_its_own, close_file),
      cmocka_unit_test_teardown(a_list_is_bounded, close_file),
      cmocka_unit_test_teardown(help_shows_every_option_with_default_and_environment, close_file),
      cmocka_unit_test_teardown(version_names_the_program, close_file),
      cmocka_unit_test_teardown(help_wins_over_wrong_values, close_file),
      cmocka_unit_test_teardown(values_are_read_alone_too, close_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
