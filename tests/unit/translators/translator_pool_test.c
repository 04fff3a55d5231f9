/* SPDX-License-Identifier: Apache-2.0 */
/* The pool against real shells as translators: well-behaved, slow, dying, miscounting, hanging. */
#include "translators/translator_pool.h"

#include "common/buf.h"
#include "common/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { ADDRESSES = 600, LONG_MS = 20000 };

static struct translator_pool *pool;
static char rules_path[] = "/tmp/translator_pool_test.XXXXXX";
static uint64_t addresses[ADDRESSES];
static unsigned quiet_ms = LONG_MS;

static void arch_of(void *context, const char *board, char *ret, size_t ret_len) {
  (void)context;
  snprintf(ret, ret_len, "%s", strcmp(board, "dsp-1") == 0 ? "xtensa" : "x86_64");
}

static int open_rules(const char *text, char *error, size_t error_len) {
  const struct translator_parts parts = {
      .rules_path = rules_path,
      .arch_of = arch_of,
      .times = {.quiet_ms = quiet_ms, .talk_ms = LONG_MS, .idle_ms = 200, .retry_ms = 50}};
  int fd = open(rules_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  close(fd);
  return translator_pool_open(&parts, &pool, error, error_len);
}

static void open_pool(const char *rule) {
  char error[512];
  if (open_rules(rule, error, sizeof error) != 0) fail_msg("%s", error);
}

static uint32_t choose(const char *board, const char *quality) {
  static const uint8_t sha256[32] = {1};
  const struct translator_module module = {.board = board,
                                           .path = "/opt/tool",
                                           .id = span_of("\xab\xcd", 2),
                                           .quality = quality,
                                           .debug_path = "/debug/file",
                                           .sha256 = sha256};
  return translator_pool_choose(pool, &module);
}

static void ask(uint32_t module, uint32_t count, unsigned wait_ms) {
  translator_pool_ask(pool, module, addresses, count, clock_monotonic_ns() + wait_ms * NS_PER_MS);
}

static void assert_named(uint32_t module, uint64_t address, const char *name) {
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  int count = translator_pool_find(pool, module, address, frames);
  if (name == NULL) {
    assert_int_equal(count, -ENOENT);
    return;
  }
  assert_true(count > 0);
  assert_string_equal(frames[0].name, name);
}

static void assert_all_named(uint32_t module, uint32_t count) {
  char name[32];
  for (uint32_t i = 0; i < count; i++) {
    snprintf(name, sizeof name, "f0x%llx", (unsigned long long)addresses[i]);
    assert_named(module, addresses[i], name);
  }
}

static void close_pool(void) {
  translator_pool_close(pool);
  pool = NULL;
}

static void each_way_of_answering_names_all(void **state) {
  static const char *const rules[] = {
      "* * any at-end sed 's/^/f/'\n", "* * any 1 while read -r a; do echo \"f$a\"; done\n",
      "* * any 2 while read -r a; do echo \"f$a\"; echo a.c:7; done\n",
      "* * any blank while read -r a; do echo \"f$a\"; echo a.c:7; echo; done\n",
      "* * any 1 sed -u 's/^/f/'\n"};
  struct translator_state told;
  (void)state;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    open_pool(rules[i]);
    uint32_t module = choose("b", "dwarf");
    ask(module, ADDRESSES, LONG_MS);
    assert_all_named(module, ADDRESSES);
    assert_int_equal(translator_pool_tell(pool, span_of("\xab\xcd", 2), &told), 0);
    assert_int_equal(told.told, ADDRESSES);
    assert_string_equal(told.quality, "dwarf");
    assert_string_equal(told.why, "");
    close_pool();
  }
}

static void it_knows_what_it_is_asked_about(void **state) {
  (void)state;
  open_pool("xtensa /opt/* symtab at-end "
            "sed \"s|.*|$MODULE $BUILD_ID $ARCH $QUALITY $DEBUG_FILE|\"\n");
  assert_int_equal(choose("b", "none"), TRANSLATOR_NONE);
  assert_int_equal(choose("dsp-1", "dwarf"), TRANSLATOR_NONE);
  uint32_t module = choose("dsp-1", "symtab");
  assert_int_equal(choose("dsp-1", "symtab"), module);
  ask(module, 1, LONG_MS);
  assert_named(module, addresses[0], "/opt/tool abcd xtensa symtab /debug/file");
  close_pool();
}

static void who_asks_does_not_wait_for_a_slow_one(void **state) {
  (void)state;
  open_pool("* * any at-end sleep 0.2; sed 's/^/f/'\n");
  uint32_t module = choose("b", "none");
  uint64_t start_ns = clock_monotonic_ns();
  ask(module, 2, 10);
  assert_true(clock_monotonic_ns() - start_ns < 150 * NS_PER_MS);
  assert_named(module, addresses[0], NULL);
  ask(module, 2, LONG_MS); /* the next query has it */
  assert_all_named(module, 2);
  close_pool();
}

static bool is_waiting(void) {
  struct buf text = {0};
  translator_pool_metrics(pool, &text);
  bool is_one = strstr(buf_text(&text), "waiting_addresses 1\n") != NULL;
  buf_fini(&text);
  return is_one;
}

static void *ask_for_the_first(void *context) {
  ask(*(uint32_t *)context, 1, LONG_MS);
  return NULL;
}

/* Another question about the module is under way, about another address. */
static void who_finds_a_translator_busy_is_answered_behind_the_other(void **state) {
  (void)state;
  pthread_t other;
  open_pool("* * any at-end sleep .3; sed 's/^/f/'\n");
  uint32_t module = choose("b", "dwarf");
  assert_int_equal(pthread_create(&other, NULL, ask_for_the_first, &module), 0);
  while (!is_waiting()) usleep(1000);
  translator_pool_ask(pool, module, addresses + 1, 1, clock_monotonic_ns() + LONG_MS * NS_PER_MS);
  assert_named(module, addresses[1], "f0x1010");
  pthread_join(other, NULL);
  assert_all_named(module, 1);
  close_pool();
}

static void what_fails_names_nothing_and_is_told(void **state) {
  static const struct {
    const char *rule, *why;
  } bad[] = {{"* * any at-end exit 3\n", "status 3"},
             {"* * any at-end echo one\n", "even"},
             {"* * any at-end cat\n", "gives its addresses back"},
             {"* * any 1 cat\n", "gives its addresses back"},
             {"* * any at-end sed 'p'; echo more\n", "even"},
             {"* * any at-end sleep 100\n", "ended"},
             {"* * any at-end /no/such/program\n", "cannot be run"},
             {"* * any 1 sed -u 's/$/\\nmore/'\n", ""},
             {"* * any 2 head -n 3; sleep 100\n", "ended"},
             {"* * any blank cat\n", "ended"},
             {"* * any 1 read -r a; exit 4\n", "status 4"}};
  struct translator_state told;
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    quiet_ms = strcmp(bad[i].why, "ended") == 0 ? 50 : LONG_MS;
    open_pool(bad[i].rule);
    quiet_ms = LONG_MS;
    uint32_t module = choose("b", "none");
    ask(module, 5, LONG_MS);
    for (int j = 0; j < 5; j++) assert_named(module, addresses[j], NULL);
    assert_int_equal(translator_pool_tell(pool, span_of("\xab\xcd", 2), &told), 0);
    if (strstr(told.why, bad[i].why) == NULL || told.why[0] == '\0')
      fail_msg("%s: '%s' does not say '%s'", bad[i].rule, told.why, bad[i].why);
    close_pool();
  }
}

static void one_that_failed_rests_and_is_asked_again(void **state) {
  char rule[256], mark[] = "/tmp/translator_pool_mark.XXXXXX";
  struct timespec nap = {0, 60000000};
  int fd = mkstemp(mark);
  (void)state;
  assert_true(fd >= 0);
  close(fd);
  snprintf(rule, sizeof rule, "* * any at-end [ -e %s ] && exit 1; sed 's/^/f/'\n", mark);
  open_pool(rule);
  uint32_t module = choose("b", "none");
  ask(module, 1, LONG_MS);
  unlink(mark);
  ask(module, 1, LONG_MS);
  assert_named(module, addresses[0], NULL); /* it rests */
  nanosleep(&nap, NULL);
  ask(module, 1, LONG_MS);
  assert_all_named(module, 1);
  close_pool();
}

static void one_that_stays_is_one_process_until_it_idles(void **state) {
  struct timespec nap = {0, 400000000};
  char first[32], second[32];
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  (void)state;
  open_pool("* * any 1 while read -r a; do echo \"p$$\"; done\n");
  uint32_t module = choose("b", "none");
  ask(module, 1, LONG_MS);
  assert_int_equal(translator_pool_find(pool, module, addresses[0], frames), 1);
  snprintf(first, sizeof first, "%s", frames[0].name);
  ask(module, 2, LONG_MS);
  assert_named(module, addresses[1], first);
  nanosleep(&nap, NULL);
  ask(module, 3, LONG_MS);
  assert_int_equal(translator_pool_find(pool, module, addresses[2], frames), 1);
  snprintf(second, sizeof second, "%s", frames[0].name);
  assert_string_not_equal(first, second);
  close_pool();
}

static void closing_ends_one_that_hangs(void **state) {
  (void)state;
  open_pool("* * any at-end while sleep 0.05; do echo; done\n"); /* never silent */
  uint64_t start_ns = clock_monotonic_ns();
  ask(choose("b", "none"), 1, 50);
  close_pool();
  assert_true(clock_monotonic_ns() - start_ns < 3 * NS_PER_SECOND);
}

static void rules_that_cannot_be_read_are_named(void **state) {
  char error[512];
  (void)state;
  assert_int_equal(open_rules("* *\n", error, sizeof error), -EINVAL);
  assert_non_null(strstr(error, "line 1"));
  assert_non_null(strstr(error, rules_path));
}

static void assert_counted(const char *rule, unsigned quiet, const char *series) {
  struct buf text = {0};
  quiet_ms = quiet;
  open_pool(rule);
  ask(choose("b1", "symtab"), 3, 10000);
  translator_pool_metrics(pool, &text);
  if (strstr(buf_text(&text), series) == NULL) fail_msg("no %s in %s", series, buf_text(&text));
  buf_fini(&text);
  close_pool();
  quiet_ms = LONG_MS;
}

/* A failed query is sent twice. */
static void what_happens_is_counted(void **state) {
  (void)state;
  assert_counted("* * any at-end sed s/^/f/", LONG_MS, "_named_total 3\n");
  assert_counted("* * any at-end sed s/^/f/", LONG_MS, "_starts_total 1\n");
  assert_counted("* * any at-end sed s/^/f/", LONG_MS, "_kept_answers 3\n");
  assert_counted("* * any at-end sed s/^/f/", LONG_MS, "_waiting_addresses 0\n");
  assert_counted("* * any at-end exit 3", LONG_MS, "{reason=\"exit\"} 2\n");
  assert_counted("* * any at-end exit 3", LONG_MS, "_starts_total 2\n");
  assert_counted("* * any at-end exit 3", LONG_MS, "_addresses_total 6\n");
  assert_counted("* * any at-end echo one", LONG_MS, "{reason=\"line_count\"} 2\n");
  assert_counted("* * any 1 sleep 100", 50, "{reason=\"deadline\"} 2\n");
}

/* Its files contradict it: that is counted, and reported with its failures. */
static void what_is_not_believed_is_counted(void **state) {
  struct translator_state told;
  struct buf metrics = {0};
  (void)state;
  open_pool("* * any at-end sed 's/^/f/'\n");
  uint32_t module = choose("b", "dynsym");
  ask(module, 2, LONG_MS);
  assert_int_equal(translator_pool_tell(pool, span_of("\xab\xcd", 2), &told), 0);
  assert_string_equal(told.why, "");
  for (int i = 0; i < 2; i++) translator_pool_refuse(pool, module);
  assert_int_equal(translator_pool_tell(pool, span_of("\xab\xcd", 2), &told), 0);
  assert_non_null(strstr(told.why, "not believed"));
  translator_pool_metrics(pool, &metrics);
  assert_non_null(strstr(buf_text(&metrics), "\nfleetprof_translator_refused_total 2\n"));
  buf_fini(&metrics);
  close_pool();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_way_of_answering_names_all),
      cmocka_unit_test(it_knows_what_it_is_asked_about),
      cmocka_unit_test(who_asks_does_not_wait_for_a_slow_one),
      cmocka_unit_test(who_finds_a_translator_busy_is_answered_behind_the_other),
      cmocka_unit_test(what_fails_names_nothing_and_is_told),
      cmocka_unit_test(one_that_failed_rests_and_is_asked_again),
      cmocka_unit_test(one_that_stays_is_one_process_until_it_idles),
      cmocka_unit_test(closing_ends_one_that_hangs),
      cmocka_unit_test(rules_that_cannot_be_read_are_named),
      cmocka_unit_test(what_happens_is_counted),
      cmocka_unit_test(what_is_not_believed_is_counted),
  };
  int fd = mkstemp(rules_path);
  if (fd < 0) return 1;
  close(fd);
  for (uint32_t i = 0; i < ADDRESSES; i++) addresses[i] = 0x1000 + 16 * i;
  signal(SIGPIPE, SIG_IGN); /* required by the contract */
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(rules_path);
  return failed;
}
