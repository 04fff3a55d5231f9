/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=nursery_run: the test sets a worker's result and its time. Everything between
   that and the store's report about a file is real. */
#include "../symbol/elf_fixture.h"

#include "names/debug_store_dwarf.h"
#include "names/debug_wishes.h"
#include "names/name_sources.h"
#include "names/symbolizer.h"
#include "symbol/nursery.h"

#include <errno.h>
#include <openssl/sha.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

enum { SETTLE_MS = 20000, LIBRARIES = 3, RUNS_MAX = 16 };

/* The results of the workers for one depth. */
struct script {
  _Atomic bool is_forced; /* otherwise the real result */
  enum nursery_outcome outcome;
  int signal;
  _Atomic unsigned runs;
};

static struct debug_store *store;
static struct symbolizer *symbolizer;
static struct script symbols, deep;
static _Atomic bool is_held; /* debug information is read one file a sem_post(&may_go) */
static sem_t may_go;
static uint8_t order[RUNS_MAX][32]; /* of files whose debug information was read */

int __real_nursery_run(struct nursery *nursery, const struct worker_job *job,
                       struct nursery_result *ret);
int __wrap_nursery_run(struct nursery *nursery, const struct worker_job *job,
                       struct nursery_result *ret);

int __wrap_nursery_run(struct nursery *nursery, const struct worker_job *job,
                       struct nursery_result *ret) {
  bool is_deep = job->depth == INDEX_ALL;
  struct script *script = is_deep ? &deep : &symbols;
  unsigned run = atomic_load(&script->runs);
  if (is_deep && run < RUNS_MAX) memcpy(order[run], job->key.data, 32);
  atomic_store(&script->runs, run + 1);
  while (is_deep && atomic_load(&is_held) && sem_wait(&may_go) != 0) continue;
  if (!atomic_load(&script->is_forced)) return __real_nursery_run(nursery, job, ret);
  *ret = (struct nursery_result){.outcome = script->outcome, .signal = script->signal};
  return 0;
}

static void force(struct script *script, enum nursery_outcome outcome, int signal) {
  script->outcome = outcome;
  script->signal = signal;
  atomic_store(&script->is_forced, true);
}

static void open_all(void) {
  char error[256] = "", dir[128];
  snprintf(dir, sizeof dir, "%s/data", fixture_dir);
  if (debug_store_open(dir, &store, error, sizeof error) != 0) fail_msg("%s", error);
  if (symbolizer_open(store, &symbolizer, error, sizeof error) != 0) fail_msg("%s", error);
}

static void close_all(void) {
  symbolizer_close(symbolizer);
  debug_store_close(store);
}

static int set_up(void **state) {
  (void)state;
  fixture_run("rm -rf data");
  memset(order, 0, sizeof order);
  atomic_store(&symbols.is_forced, false), atomic_store(&deep.is_forced, false);
  atomic_store(&symbols.runs, 0), atomic_store(&deep.runs, 0);
  atomic_store(&is_held, false);
  assert_int_equal(sem_init(&may_go, 0, 0), 0);
  open_all();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  atomic_store(&is_held, false);
  for (unsigned i = 0; i < RUNS_MAX; i++) sem_post(&may_go);
  close_all();
  sem_destroy(&may_go);
  return 0;
}

/* The library lNUMBER.so as the store identifies it. */
struct library {
  uint8_t id[64], sha256[32];
  struct span module;
};

/* Uploads it from board "one". */
static struct library *put(unsigned number) {
  static struct library libraries[LIBRARIES];
  struct library *library = &libraries[number];
  char name[16], why[256] = "";
  snprintf(name, sizeof name, "l%u.so", number);
  struct span bytes = fixture_read(name);
  library->module = span_of(library->id, fixture_build_id(name, library->id));
  SHA256(bytes.data, bytes.len, library->sha256);
  struct debug_wish wish = {.id = library->module, .path = name};
  debug_wishes_ask(store, "one", false, &wish, 1);
  const struct debug_piece piece = {.board = "one",
                                    .id = library->module,
                                    .total = bytes.len,
                                    .sha256 = span_of(library->sha256, 32),
                                    .bytes = bytes};
  if (debug_store_write(store, &piece, why, sizeof why) != 1) fail_msg("%s: %s", name, why);
  fixture_free(bytes);
  return library;
}

static int prepare(const struct library *library) {
  return symbolizer_prepare(symbolizer, "one", library->module);
}

static void await_deep_runs(unsigned count) {
  for (unsigned ms = 0; ms < SETTLE_MS && atomic_load(&deep.runs) < count; ms++) usleep(1000);
  assert_int_equal(atomic_load(&deep.runs), count);
}

static enum debug_quality quality_of(const struct library *library) {
  struct debug_file file;
  assert_int_equal(debug_store_find(store, "one", library->module, &file), 0);
  return file.quality;
}

struct asked {
  struct span id;
  char reason[512];
};

static int on_module(void *context, const struct debug_module *module) {
  struct asked *asked = context;
  if (span_is_equal(module->id, asked->id))
    snprintf(asked->reason, sizeof asked->reason, "%s", module->reason);
  return 0;
}

static void expect_reason(const struct library *library, const char *word) {
  struct asked asked = {.id = library->module};
  assert_int_equal(debug_store_list(store, on_module, &asked), 0);
  if (strstr(asked.reason, word) == NULL) fail_msg("'%s' does not say '%s'", asked.reason, word);
}

static void the_file_that_answers_need_is_read_next(void **state) {
  (void)state;
  const struct library *libraries[LIBRARIES];
  static const unsigned wanted[LIBRARIES] = {0, 2, 1};
  atomic_store(&is_held, true);
  for (unsigned i = 0; i < LIBRARIES; i++) {
    libraries[i] = put(i);
    assert_int_equal(prepare(libraries[i]), 0);
    if (i == 0) await_deep_runs(1);
  }
  assert_non_null(symbolizer_sources(symbolizer, "one", libraries[2]->module));
  for (unsigned i = 0; i < LIBRARIES; i++) sem_post(&may_go);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(atomic_load(&deep.runs), LIBRARIES);
  for (unsigned i = 0; i < LIBRARIES; i++)
    assert_memory_equal(order[i], libraries[wanted[i]]->sha256, 32);
}

/* The cause is unknown: the file keeps its state, and others are read first. */
static void a_worker_that_got_nowhere_says_nothing_of_the_file(void **state) {
  (void)state;
  struct debug_file next;
  atomic_store(&is_held, true);
  force(&deep, NURSERY_TIMED_OUT, 0);
  const struct library *library = put(0);
  assert_int_equal(prepare(library), 0);
  await_deep_runs(1);
  const struct library *other = put(1);
  assert_int_equal(prepare(other), 0);
  sem_post(&may_go);
  memset(&next, 0, sizeof next);
  for (unsigned ms = 0; ms < SETTLE_MS && memcmp(next.sha256, other->sha256, 32) != 0; ms++) {
    assert_int_equal(debug_store_next_dwarf(store, &next), 0);
    usleep(1000);
  }
  assert_memory_equal(next.sha256, other->sha256, 32);
  assert_int_equal(quality_of(library), DEBUG_SYMTAB);
  expect_reason(library, "is being read");
  assert_false(symbolizer_settle(symbolizer, 20));
  close_all(); /* at once, though it rests */
  atomic_store(&deep.is_forced, false);
  atomic_store(&is_held, false);
  open_all();
  symbolizer_start(symbolizer);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_of(library), DEBUG_DWARF);
  assert_int_equal(quality_of(other), DEBUG_DWARF);
}

static void a_file_that_was_given_up_waits_for_the_next_start(void **state) {
  (void)state;
  struct debug_file next;
  force(&deep, NURSERY_GIVEN_UP, 0);
  const struct library *library = put(0);
  assert_int_equal(prepare(library), 0);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(debug_store_next_dwarf(store, &next), -ENOENT);
  assert_int_equal(quality_of(library), DEBUG_SYMTAB);
  expect_reason(library, "no CPU time: it waits for the next start");
  close_all();
  atomic_store(&deep.is_forced, false);
  open_all();
  symbolizer_start(symbolizer);
  assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
  assert_int_equal(quality_of(library), DEBUG_DWARF);
}

/* A file that crashed a worker is not tried again, not by the next collector either. */
static void what_a_worker_died_of_is_told_and_lasts(void **state) {
  static const struct {
    enum nursery_outcome outcome;
    int signal;
    unsigned runs;
    const char *word;
  } ends[] = {{NURSERY_DIED, SIGXCPU, 1, "more CPU time than one of its size"},
              {NURSERY_DIED, SIGSEGV, 1, "died over it (signal 11)"},
              {NURSERY_KILLED, SIGKILL, 2, "killed over it twice"}};
  (void)state;
  for (unsigned i = 0; i < LIBRARIES; i++) {
    struct debug_file next;
    unsigned before = atomic_load(&deep.runs);
    force(&deep, ends[i].outcome, ends[i].signal);
    const struct library *library = put(i);
    assert_int_equal(prepare(library), 0);
    assert_true(symbolizer_settle(symbolizer, SETTLE_MS));
    assert_int_equal(atomic_load(&deep.runs) - before, ends[i].runs);
    expect_reason(library, ends[i].word);
    assert_int_equal(quality_of(library), DEBUG_SYMTAB);
    close_all();
    open_all();
    assert_int_equal(debug_store_next_dwarf(store, &next), -ENOENT);
    expect_reason(library, ends[i].word);
  }
}

static void symbols_that_no_worker_got_to_are_read_later(void **state) {
  static const struct {
    enum nursery_outcome outcome;
    int error;
  } ends[] = {{NURSERY_TIMED_OUT, -ETIMEDOUT}, {NURSERY_GIVEN_UP, -ETIME}};
  (void)state;
  for (unsigned i = 0; i < 2; i++) {
    struct debug_file unread;
    const struct library *library = put(i);
    force(&symbols, ends[i].outcome, 0);
    assert_int_equal(prepare(library), ends[i].error);
    assert_true(symbolizer_settle(symbolizer, SETTLE_MS)); /* the second try, which it requests */
    assert_int_equal(debug_store_find_unread(store, "one", library->module, &unread), 0);
    atomic_store(&symbols.is_forced, false);
    assert_int_equal(prepare(library), 0);
    assert_true(quality_of(library) >= DEBUG_SYMTAB);
  }
}

static void a_file_that_ends_its_workers_is_refused(void **state) {
  char why[256] = "";
  (void)state;
  const struct library *library = put(0);
  force(&symbols, NURSERY_KILLED, SIGKILL);
  assert_int_equal(prepare(library), -EBADMSG);
  assert_int_equal(atomic_load(&symbols.runs), 2);
  assert_int_equal(debug_store_judge(store, "one", library->module, why, sizeof why), -EBADMSG);
  if (strstr(why, "killed over it twice") == NULL) fail_msg("%s", why);
}

static int set_up_all(void **state) {
  int error = fixture_set_up(state);
  if (error == 0)
    fixture_run("for i in 0 1 2; do echo \"int f$i(int x) { return x * $i; }\" >l$i.c && "
                "cc -g -O1 -nostdlib -shared -fPIC -Wl,--build-id=sha1 -o l$i.so l$i.c || exit; "
                "done");
  return error;
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(the_file_that_answers_need_is_read_next),
      FRESH(a_worker_that_got_nowhere_says_nothing_of_the_file),
      FRESH(a_file_that_was_given_up_waits_for_the_next_start),
      FRESH(what_a_worker_died_of_is_told_and_lasts),
      FRESH(symbols_that_no_worker_got_to_are_read_later),
      FRESH(a_file_that_ends_its_workers_is_refused),
  };
  return cmocka_run_group_tests(tests, set_up_all, fixture_tear_down);
}
