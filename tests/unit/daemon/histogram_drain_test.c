/* SPDX-License-Identifier: Apache-2.0 */
/* Counters that a target only ever adds to, and a daemon that ships each step of them once. */
#include "drain/histogram_drain.h"
#include "drain/window.h"
#include "kept_fixture.h"

#include "common/clock.h"
#include "ring/histogram_reader.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum {
  KILLS = 150,
  BATCHES_MAX = 12, /* between two kills, at random; each is synced */
  ROUNDS_MAX = 30,  /* of counting in the batch that the kill meets */
};

static uint8_t *ring;
static struct histogram_writer writer;

static int make_with(uint32_t bin_bytes, uint32_t counter_bytes) {
  struct hold_target held = {
      .collect = RING_HISTOGRAM, .bin_bytes = bin_bytes, .counter_bytes = counter_bytes};
  held.period_ns = KEPT_UNIT_NS;
  if (timer_ring_size_histogram(&held, 4 << 20, 20) != 0) return -1;
  held.unit_ns = KEPT_UNIT_NS; /* exact, as sums are exact here */
  if (kept_make(held) != 0) return -1;
  const struct hold_entry *entry = kept.held.entries[0];
  size_t bytes = (size_t)timer_ring_bytes(&entry->target);
  ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, entry->fds[0], 0);
  return histogram_writer_init(&writer, ring, bytes);
}

static int make(void **state) {
  (void)state;
  return make_with(0, 0);
}

static int make_narrow(void **state) {
  (void)state;
  return make_with(64, 1);
}

static int unmake(void **state) {
  munmap(ring, (size_t)timer_ring_bytes(&kept.held.entries[0]->target));
  return kept_unmake(state);
}

/* At code of this program, spread over some bins. */
static void count(uint32_t weight, unsigned spread) {
  static uint32_t hint;
  uint64_t pc = (uint64_t)(uintptr_t)&kept_open + 16U * ((unsigned)rand() % spread);
  histogram_writer_add(&writer, pc, weight, &hint);
}

/* Slower than the daemon's limit for two CPUs. */
static void count_calmly(void) {
  for (unsigned i = 0; i < 8; i++) count(1 + i % 3, 800);
  usleep(10);
}

static struct histogram_header *header(void) {
  return (struct histogram_header *)(void *)(ring + HISTOGRAM_OFFSET);
}

static void tell_nothing(void *context, uint32_t id, struct window_told *ret) {
  (void)context, (void)id;
  memset(ret, 0, sizeof *ret);
}

/* Of modules named NAME; NULL: of files. */
static struct histogram_sum sum_in(struct window *window, const char *name) {
  struct batch batch;
  struct histogram_sum sum = {0, 0};
  assert_int_equal(window_batch(window, tell_nothing, NULL, &batch), 0);
  for (uint32_t i = 0; i < batch.sample_count; i++) {
    const struct batch_module *m = &batch.modules[batch.nodes[batch.samples[i].node].module];
    bool is_wanted = name == NULL ? m->kind == MODULE_ELF : strcmp(m->path, name) == 0;
    if (is_wanted) sum.records += batch.samples[i].count;
    if (is_wanted) sum.units += batch.samples[i].weight / KEPT_UNIT_NS;
    assert_true(batch.samples[i].weight >= batch.samples[i].count * KEPT_UNIT_NS);
    assert_int_equal(batch.samples[i].weight % KEPT_UNIT_NS, 0);
    assert_int_equal(batch.samples[i].type, m->kind == MODULE_ELF ? SAMPLE_CPU_LR : SAMPLE_CPU);
  }
  return sum;
}

static void assert_sum(struct histogram_sum sum, uint64_t records, uint64_t units) {
  assert_int_equal(sum.records, records);
  assert_int_equal(sum.units, units);
}

static void each_step_is_shipped_once_and_has_its_place(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  for (unsigned i = 0; i < 100; i++) count(3, 20);
  assert_int_equal(histogram_drain_run(&p.drain, p.target, true), 100);
  assert_sum(sum_in(p.window, NULL), 100, 300);
  assert_int_equal(histogram_drain_run(&p.drain, p.target, true), 0);
  kept_assert_books(0); /* pending counts are still in the counters */
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  kept_assert_books(100);
  count(7, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 7);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  kept_assert_books(101);
  assert_int_equal(p.target->records, 101);
  assert_int_equal(p.target->weight_ns, 307 * KEPT_UNIT_NS);
  kept_close(&p);
  assert_int_equal(kept_spooled(), 101);
}

/* Two equally sampled places; merged expiries hit the first more often. */
static void records_of_one_pass_weigh_what_they_do_on_the_average(void **state) {
  (void)state;
  struct kept_pipeline p;
  uint32_t hint = 0;
  kept_open(&p);
  kept_begin(&p);
  for (unsigned i = 0; i < 3; i++) count(4, 1);
  for (unsigned i = 0; i < 3; i++) histogram_writer_add(&writer, 8, 2, &hint);
  assert_int_equal(drain_run_whole(&p.drain), 6);
  assert_sum(sum_in(p.window, NULL), 3, 9);
  assert_sum(sum_in(p.window, "[unknown]"), 3, 9);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  count(2, 1); /* the next pass has an average of its own */
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 2);
  kept_close(&p);
}

/* A handler that was interrupted between the word for all and its counter. */
static void what_is_not_in_its_counter_yet_weighs_when_it_is(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  count(5, 1);
  atomic_fetch_add(&header()->units, 5);
  atomic_fetch_add(&header()->samples, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 5);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  atomic_fetch_add(&header()->contended, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, "[unsampled]"), 1, 5);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  /* Another sample reaches its counter before its weight is known. */
  uint32_t *counters = (uint32_t *)(void *)(ring + header()->counters_offset);
  counters[0]++;
  assert_int_equal(drain_run_whole(&p.drain), 0);
  kept_close(&p);
}

/* Units are raised first.  A pass between them and their record gives them to other records, and
   the record itself weighs nothing later: the sum is the handler's. */
static void a_record_whose_units_went_before_it_is_no_bad_record(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  count(1, 1);
  atomic_fetch_add(&header()->units, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 2);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  atomic_fetch_add(&header()->samples, 1);
  atomic_fetch_add(&header()->contended, 1);
  for (uint64_t records = 2; records < 5; records++) {
    assert_int_equal(drain_run_whole(&p.drain), 1);
    assert_int_equal(shipper_close_window(&p.shipper, false), 0);
    kept_assert_books(records);
    assert_sum(header()->taken_sum, records, atomic_load(&header()->units));
    assert_int_equal(loss_total(counter_page_books(kept.page)), 0);
    count(1, 1);
  }
  kept_close(&p);
}

static void counters_are_read_when_a_window_closes_and_seen_before(void **state) {
  (void)state;
  struct kept_pipeline p;
  uint64_t since_ns = 0, before_ns = clock_boottime_ns();
  kept_open(&p);
  kept_begin(&p);
  drain_run(&p.drain);
  count(1, 1);
  p.target->kept.passed_ns = 0; /* the next second */
  assert_int_equal(drain_run(&p.drain), 1);
  assert_int_equal(window_records(p.window), 0);
  assert_int_equal(p.target->records, 1);
  assert_int_equal(histogram_drain_unshipped(p.target, &since_ns), 1);
  assert_true(since_ns >= before_ns && since_ns <= clock_boottime_ns());
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_int_equal(histogram_drain_unshipped(p.target, &since_ns), 0);
  kept_close(&p);
}

static void what_the_spool_refuses_stays_in_the_counters(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  count(5, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  struct spool *spool = p.shipper.spool;
  struct profile_file none = {.fd = -1};
  p.shipper.file = &none;
  assert_int_not_equal(shipper_close_window(&p.shipper, false), 0);
  kept_assert_books(0);
  p.shipper.file = NULL;
  p.shipper.spool = spool;
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 5);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  kept_assert_books(1);
  kept_close(&p);
}

static void more_counters_than_a_journal_holds_take_more_batches(void **state) {
  (void)state;
  struct kept_pipeline p;
  uint64_t shipped = 0, units = 0, more;
  kept_open(&p);
  kept_begin(&p);
  uint32_t *counters = (uint32_t *)(void *)(ring + header()->counters_offset);
  header()->bins_used = header()->bin_count;
  enum { BINS = HISTOGRAM_STEPS_MAX + 100 };
  for (uint32_t i = 0; i < BINS; i++) counters[i] = 2;
  atomic_store(&header()->units, 3 * BINS + 1);
  atomic_store(&header()->samples, 2 * BINS);
  while ((more = drain_run_whole(&p.drain)) > 0) {
    assert_true(more <= 2 * HISTOGRAM_STEPS_MAX);
    struct histogram_sum sum = sum_in(p.window, "[unknown]"), rest = sum_in(p.window, NULL);
    assert_in_range(sum.units + rest.units, more + more / 2, more + more / 2 + 1);
    units += sum.units + rest.units;
    assert_int_equal(shipper_close_window(&p.shipper, false), 0);
    assert_sum(header()->taken_sum, shipped + more, units);
    shipped += more;
  }
  assert_int_equal(shipped, 2 * BINS);
  assert_int_equal(units, 3 * BINS + 1);
  kept_assert_books(shipped);
  kept_close(&p);
}

static void what_has_no_counter_is_in_the_total_all_the_same(void **state) {
  (void)state;
  struct kept_pipeline p;
  uint32_t hint = 0;
  kept_open(&p);
  kept_begin(&p);
  histogram_writer_add(&writer, 8, 5, &hint);     /* no code there */
  for (unsigned i = 0; i < 300; i++) count(1, 1); /* 255 fit */
  histogram_writer_count_reentry(&writer, 2);
  assert_int_equal(histogram_drain_run(&p.drain, p.target, true), 302);
  char why[200];
  histogram_drain_explain(p.target, why, sizeof why);
  assert_string_equal(why, "45 of 302 samples found their counter of 1 bytes full");
  assert_int_equal(atomic_load(&header()->samples), 302);
  struct histogram_sum placed = sum_in(p.window, NULL), unknown = sum_in(p.window, "[unknown]"),
                       unsampled = sum_in(p.window, "[unsampled]");
  assert_int_equal(placed.records, 255);
  assert_int_equal(unknown.records, 1);
  assert_int_equal(unsampled.records, 46);
  assert_int_equal(placed.units + unknown.units + unsampled.units, 5 + 300 + 2);
  kept_close(&p);
}

static void counts_that_no_cpu_can_have_made_are_one_bad_record(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  p.target->held.unit_ns = 1000000000; /* a second each: this program is not that old */
  atomic_fetch_add(&header()->outside, 1ULL << 60);
  for (unsigned i = 0; i < 3; i++) {
    count(1, 1);
    assert_int_equal(histogram_drain_run(&p.drain, p.target, true), 1);
    assert_int_equal(shipper_close_window(&p.shipper, false), 0);
    assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_BAD_RECORD], 1);
  }
  kept_assert_books(4);
  kept_close(&p);
}

static void assert_refused_once(struct kept_pipeline *p) {
  for (unsigned i = 0; i < 3; i++) {
    assert_int_equal(histogram_drain_run(&p->drain, p->target, true), 0);
    assert_int_equal(shipper_close_window(&p->shipper, false), 0);
    assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_BAD_RECORD], 1);
    assert_int_equal(p->target->weight_ns, 0);
  }
}

static void weight_that_no_cpu_can_have_spent_is_one_bad_record(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  count(1, 1);
  atomic_fetch_add(&header()->units, 1ULL << 60);
  assert_refused_once(&p);
  kept_close(&p);
}

static void more_records_than_units_are_one_bad_record(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  count(3, 1);
  atomic_fetch_add(&header()->samples, 5);
  assert_refused_once(&p);
  kept_close(&p);
}

static void spoilt_headers_cost_one_bad_record_and_nothing_else(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  header()->counters_offset = UINT64_MAX - 7;
  memset(ring + timer_ring_bytes(&p.target->held) - HISTOGRAM_JOURNAL_BYTES, 0xff,
         HISTOGRAM_JOURNAL_BYTES);
  for (unsigned i = 0; i < 3; i++) histogram_drain_run(&p.drain, p.target, true);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_BAD_RECORD], 1);
  kept_close(&p);
}

static void a_batch_that_was_spooled_is_taken_by_the_next_worker(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  for (unsigned round = 0; round < 2; round++) {
    count(4, 1);
    /* The worker dies with the batch announced: spooled in the second round only. */
    uint64_t since_ns = UINT64_MAX, seq = atomic_load(&kept.page->next_seq);
    assert_int_equal(drain_run_whole(&p.drain), round + 1);
    assert_sum(sum_in(p.window, NULL), round + 1, 4 * (round + 1));
    histogram_drain_seal(&p.drain, (struct histogram_note){99, seq}, &since_ns);
    if (round == 1) {
      const struct spool_item item = {.run = 99, .seq = seq, .zstd = span_of("x", 1)};
      assert_int_equal(spool_append(p.spool, &item), 0);
    }
    kept_close(&p);
    kept_open(&p);
  }
  assert_int_equal(drain_run_whole(&p.drain), 0);
  kept_assert_books(0);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  count(9, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_sum(sum_in(p.window, NULL), 1, 9);
  kept_close(&p);
}

static void run_worker(void) {
  struct kept_pipeline p;
  kept_open(&p);
  for (;;) {
    drain_run_whole(&p.drain);
    shipper_close_window(&p.shipper, false);
  }
}

static void kill_nine_at_any_moment_counts_each_step_once(void **state) {
  (void)state;
  struct kept_pipeline p;
  kept_open(&p);
  kept_begin(&p);
  kept_close(&p);
  srand(1);
  for (unsigned i = 0; i < KILLS; i++) {
    uint64_t seq = atomic_load(&kept.page->next_seq);
    pid_t worker = fork();
    if (worker == 0) {
      run_worker();
      _exit(0);
    }
    uint64_t batches = 1 + (unsigned)rand() % BATCHES_MAX;
    while (atomic_load(&kept.page->next_seq) - seq < batches) count_calmly();
    for (int rounds = rand() % ROUNDS_MAX; rounds > 0; rounds--) count_calmly();
    kill(worker, SIGKILL);
    waitpid(worker, NULL, 0);
  }
  kept_open(&p);
  drain_run_whole(&p.drain);
  assert_int_equal(shipper_close_window(&p.shipper, true), 0);
  const struct counters *books = counter_page_books(kept.page);
  print_message("counted %llu, shipped %llu, killed %llu\n",
                (unsigned long long)atomic_load(&header()->samples),
                (unsigned long long)books->shipped,
                (unsigned long long)books->dropped[LOSS_WORKER_KILLED]);
  kept_assert_books(atomic_load(&header()->samples));
  assert_sum(header()->taken_sum, atomic_load(&header()->samples), atomic_load(&header()->units));
  assert_int_equal(loss_total(books), 0);
  uint64_t shipped = books->shipped;
  kept_close(&p);
  assert_int_equal(kept_spooled(), shipped);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(each_step_is_shipped_once_and_has_its_place),
      TEST(records_of_one_pass_weigh_what_they_do_on_the_average),
      TEST(what_is_not_in_its_counter_yet_weighs_when_it_is),
      TEST(a_record_whose_units_went_before_it_is_no_bad_record),
      TEST(counters_are_read_when_a_window_closes_and_seen_before),
      cmocka_unit_test_setup_teardown(what_has_no_counter_is_in_the_total_all_the_same, make_narrow,
                                      unmake),
      TEST(counts_that_no_cpu_can_have_made_are_one_bad_record),
      TEST(weight_that_no_cpu_can_have_spent_is_one_bad_record),
      TEST(more_records_than_units_are_one_bad_record),
      TEST(spoilt_headers_cost_one_bad_record_and_nothing_else),
      TEST(what_the_spool_refuses_stays_in_the_counters),
      TEST(more_counters_than_a_journal_holds_take_more_batches),
      TEST(a_batch_that_was_spooled_is_taken_by_the_next_worker),
      TEST(kill_nine_at_any_moment_counts_each_step_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
