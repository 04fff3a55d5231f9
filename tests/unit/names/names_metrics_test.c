/* SPDX-License-Identifier: Apache-2.0 */
#include "debug_store_fixture.h"

#include "common/buf.h"
#include "names/debug_store_dwarf.h"
#include "names/names_metrics.h"
#include "names/reader_counts.h"
#include "names/symbolizer.h"

/* The value of SERIES, -1 if it is absent. */
static long long value_of(const char *series) {
  struct buf text = {0};
  char start[128];
  long long value = -1;
  snprintf(start, sizeof start, "\n%s ", series);
  names_metrics_print(store, &text);
  const char *line = strstr(buf_text(&text), start);
  if (line != NULL) value = strtoll(line + strlen(start), NULL, 10);
  buf_fini(&text);
  return value;
}

static void files_are_counted_by_how_good_they_are(void **state) {
  (void)state;
  struct sample_file one = sample(1), two = sample(2), three = sample(3);
  assert_int_equal(value_of("fleetprof_names_files{quality=\"none\"}"), 0);
  assert_int_equal(write_whole("one", id_a, &one), 1);
  assert_int_equal(write_whole("one", id_a, &two), 1);
  assert_int_equal(write_whole("one", id_b, &three), 1);
  assert_int_equal(value_of("fleetprof_names_files{quality=\"none\"}"), 3);
  read_as(&one, id_a, DEBUG_SYMTAB);
  read_as(&two, id_a, DEBUG_SYMTAB);
  read_as(&three, id_b, DEBUG_BAD);
  assert_int_equal(debug_store_await_dwarf(store, two.sha256), 0);
  assert_int_equal(value_of("fleetprof_names_files{quality=\"none\"}"), 0);
  assert_int_equal(value_of("fleetprof_names_files{quality=\"symtab\"}"), 2);
  assert_int_equal(value_of("fleetprof_names_files{quality=\"bad\"}"), 1);
  assert_int_equal(value_of("fleetprof_names_waiting_files"), 1);
}

static void what_the_reader_refuses_is_counted(void **state) {
  (void)state;
  struct symbolizer *symbolizer;
  struct sample_file file = sample(4); /* no more than the head of an ELF file */
  char error[256];
  assert_int_equal(symbolizer_open(store, &symbolizer, error, sizeof error), 0);
  assert_int_equal(write_whole("one", id_a, &file), 1);
  long long before = value_of("fleetprof_names_reader_runs_total{outcome=\"refused\"}");
  assert_int_equal(symbolizer_prepare(symbolizer, "one", id_a), -EBADMSG);
  assert_int_equal(value_of("fleetprof_names_reader_runs_total{outcome=\"refused\"}"), before + 1);
  symbolizer_close(symbolizer);
}

static void each_way_that_a_run_ends_has_a_series(void **state) {
  (void)state;
  static const struct {
    struct nursery_result result;
    int error;
    const char *outcome;
  } runs[] = {{{.outcome = NURSERY_REPLIED}, 0, "read"},
              {{.outcome = NURSERY_DIED}, 0, "died"},
              {{.outcome = NURSERY_KILLED}, 0, "killed"},
              {{.outcome = NURSERY_TIMED_OUT}, 0, "timed_out"},
              {{.outcome = NURSERY_GIVEN_UP}, 0, "given_up"},
              {{.outcome = NURSERY_REPLIED}, -EBUSY, "no_worker"}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char series[96];
    snprintf(series, sizeof series, "fleetprof_names_reader_runs_total{outcome=\"%s\"}",
             runs[i].outcome);
    long long before = value_of(series);
    assert_true(before >= 0);
    reader_counts_add(&runs[i].result, runs[i].error);
    assert_int_equal(value_of(series), before + 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FRESH(files_are_counted_by_how_good_they_are),
      FRESH(what_the_reader_refuses_is_counted),
      FRESH(each_way_that_a_run_ends_has_a_series),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
