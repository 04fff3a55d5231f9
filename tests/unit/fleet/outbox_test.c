/* SPDX-License-Identifier: Apache-2.0 */
/* The books of a simulated board: an oracle must be right itself. */
#include "fleet/outbox.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SAMPLES = 3, BATCHES = 200, SPOOL = 5 };

static const struct batch_module module = {.path = "[kernel]", .kind = MODULE_PSEUDO};
static const struct batch_target target = {
    .service = "s", .exe = "/s", .sampler = "perf", .why = ""};
static const struct batch_thread thread = {0, "main"};
static const struct batch_node node = {BATCH_NONE, 0, 0};
static const struct batch_sample samples[SAMPLES] = {
    {0, 0, SAMPLE_CPU, 7, 700}, {0, 0, SAMPLE_CPU, 1, 100}, {0, 0, SAMPLE_CPU, 0, 50}};
static bool is_leaf;
static struct recording row = {
    .batch = {.module_count = 1,
              .target_count = 1,
              .thread_count = 1,
              .node_count = 1,
              .sample_count = SAMPLES,
              .modules = &module,
              .targets = &target,
              .threads = &thread,
              .nodes = &node,
              .samples = samples},
    .is_leaf = &is_leaf,
};
static struct recordings recordings = {.rows = &row, .count = 1};

static struct outbox make_outbox(uint64_t limit) {
  struct outbox outbox;
  struct variant variant = {&recordings, 1, 2, 0, 0};
  outbox_init(&outbox, &variant, 77, limit);
  return outbox;
}

static void assert_closed(const struct outbox *outbox) {
  struct counters counters = outbox_counters(outbox, &outbox->made, false);
  assert_int_equal(counters.produced, counters.shipped + loss_total(&counters));
}

static void what_is_acked_and_dropped_is_all_that_was_produced(void **state) {
  struct outbox outbox = make_outbox(SPOOL);
  uint64_t random = 5;
  (void)state;
  for (unsigned i = 0; i < BATCHES; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    outbox_close_window(&outbox);
    assert_closed(&outbox);
    if (random >> 40 & 1) continue;
    const struct outbox_entry *entry = outbox_next(&outbox);
    if (entry != NULL && (random >> 41 & 1)) outbox_ack(&outbox, entry->seq);
    if ((random >> 42 & 7) == 0) outbox_rewind(&outbox, 0);
  }
  outbox_rewind(&outbox, 0);
  for (const struct outbox_entry *entry; (entry = outbox_next(&outbox)) != NULL;)
    outbox_ack(&outbox, entry->seq);
  assert_int_equal(outbox_waiting(&outbox), 0);
  assert_true(outbox.made.spool_full > 0 && outbox.made.ring_full > 0);
  assert_int_equal(outbox.made.produced,
                   outbox.acked_records + outbox.made.ring_full + outbox.made.spool_full);
  assert_int_equal(outbox.acked_batches + outbox.dropped_batches, BATCHES);
  assert_memory_equal(&outbox.made, &outbox.handed, sizeof outbox.made);
}

static void what_was_on_the_wire_is_never_dropped(void **state) {
  struct outbox outbox = make_outbox(SPOOL);
  (void)state;
  outbox_close_window(&outbox);
  uint64_t first = outbox_next(&outbox)->seq;
  for (unsigned i = 0; i < 4 * SPOOL; i++) outbox_close_window(&outbox);
  outbox_rewind(&outbox, 0);
  assert_int_equal(outbox_next(&outbox)->seq, first);
  assert_int_equal(outbox_next(&outbox)->seq, 1 + 4 * SPOOL - SPOOL + 1);
}

static void an_ack_counts_once(void **state) {
  struct outbox outbox = make_outbox(0);
  (void)state;
  outbox_close_window(&outbox);
  outbox_close_window(&outbox);
  uint64_t first = outbox_next(&outbox)->seq, second = outbox_next(&outbox)->seq;
  assert_non_null(outbox_ack(&outbox, second));
  assert_null(outbox_ack(&outbox, second));
  assert_int_equal(outbox_waiting(&outbox), 1);
  assert_int_equal(outbox_ack(&outbox, first)->seq, first);
  assert_null(outbox_ack(&outbox, first));
  assert_int_equal(outbox.acked_records, outbox.made.produced - outbox.made.ring_full);
}

static void a_refused_batch_alone_goes_again(void **state) {
  struct outbox outbox = make_outbox(0);
  (void)state;
  for (unsigned i = 0; i < 3; i++) outbox_close_window(&outbox);
  for (unsigned i = 0; i < 3; i++) outbox_next(&outbox);
  assert_null(outbox_next(&outbox));
  outbox_rewind(&outbox, 2);
  assert_int_equal(outbox_next(&outbox)->seq, 2);
  assert_null(outbox_next(&outbox));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_acked_and_dropped_is_all_that_was_produced),
      cmocka_unit_test(what_was_on_the_wire_is_never_dropped),
      cmocka_unit_test(an_ack_counts_once),
      cmocka_unit_test(a_refused_batch_alone_goes_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
