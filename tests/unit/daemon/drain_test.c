/* SPDX-License-Identifier: Apache-2.0 */
/* From a timer ring to the spool: each record is in one batch, or counted as lost. */
#include "producer_fixture.h"

#include "drain/drain_parts.h"
#include "intake/cpu_list.h"
#include "intake/unwind_choice.h"

#include "common/clock.h"

static void records_become_a_batch_in_the_spool(void **state) {
  struct bench *bench = *state;
  for (unsigned i = 0; i < 1000; i++) {
    produce(&bench->producer);
    if (i % 100 == 99) drain_run(&bench->p.drain);
  }
  assert_int_equal(counter_page_books(kept.page)->produced, 1000);
  assert_int_equal(shipper_close_window(&bench->p.shipper, false), 0);
  struct kept_batch got;
  kept_take_batch(&bench->p, &got);
  assert_int_equal(got.item.run, 99);
  assert_int_equal(got.item.seq, 1);
  assert_int_equal(got.item.records, 1000);
  assert_int_equal(got.batch.counters.produced, 1000);
  assert_int_equal(got.batch.counters.shipped, 1000);
  assert_int_equal(got.batch.samples[0].weight, 1000ULL * PRODUCER_UNIT_NS);
  assert_string_equal(got.batch.targets[0].service, "kept");
  assert_string_equal(got.batch.targets[0].sampler, "timer");
  kept_batch_fini(&got);
}

static uint64_t weight_of(const struct batch *batch, const char *service) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) {
    const struct batch_thread *thread = &batch->threads[batch->samples[i].thread];
    if (strcmp(batch->targets[thread->target].service, service) == 0)
      sum += batch->samples[i].weight;
  }
  return sum;
}

static struct target another(const struct target *target, uint32_t id, const char *service) {
  struct target other = {.held = target->held};
  other.held.id = id;
  snprintf(other.held.service, sizeof other.held.service, "%s", service);
  return other;
}

static void assert_taken(const struct batch *batch) {
  uint64_t window_ns = batch->end_boottime_ns - batch->start_boottime_ns, sum = 0;
  for (uint32_t i = 0; i < batch->sample_count; i++) sum += batch->samples[i].weight;
  assert_int_equal(batch->cpus, cpu_list_possible());
  assert_true(sum <= 2 * batch->cpus * (window_ns + 60 * NS_PER_SECOND)); /* WIRE.md */
}

/* All CPUs were busy since the boot without a drain: three programs have a third each. */
static void a_window_begins_early_enough_for_what_is_in_it(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  struct target second = another(target, 91, "second"), third = another(target, 92, "third");
  struct kept_batch got;
  uint64_t part_ns = cpu_list_possible() * clock_boottime_ns() / 3;
  if (part_ns == 0) skip(); /* unknown from this kernel */
  produce(&bench->producer);
  drain_run(&bench->p.drain);
  drain_rest(&bench->p.drain, target, part_ns);
  drain_rest(&bench->p.drain, &second, part_ns);
  drain_rest(&bench->p.drain, &third, part_ns);
  assert_int_equal(shipper_close_window(&bench->p.shipper, false), 0);
  kept_take_batch(&bench->p, &got);
  assert_taken(&got.batch);
  assert_int_equal(weight_of(&got.batch, "kept"), part_ns + PRODUCER_UNIT_NS);
  assert_int_equal(weight_of(&got.batch, "third"), part_ns);
  kept_batch_fini(&got);
}

/* Each weight is possible for one program, but not their sum. */
static void programs_that_lie_together_cost_no_other_its_samples(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  struct target first = another(target, 91, "liar-1"), second = another(target, 92, "liar-2");
  struct kept_batch got;
  uint64_t all_ns = cpu_list_possible() * (clock_boottime_ns() + 60 * NS_PER_SECOND);
  if (all_ns == 0) skip(); /* unknown from this kernel */
  produce(&bench->producer);
  drain_run(&bench->p.drain);
  drain_rest(&bench->p.drain, target, NS_PER_SECOND);
  drain_rest(&bench->p.drain, &first, all_ns);
  drain_rest(&bench->p.drain, &second, all_ns * 2);
  assert_int_equal(shipper_close_window(&bench->p.shipper, false), 0);
  kept_take_batch(&bench->p, &got);
  assert_taken(&got.batch);
  assert_int_equal(got.item.records, 1);
  assert_int_equal(weight_of(&got.batch, "kept"), NS_PER_SECOND + PRODUCER_UNIT_NS);
  assert_int_equal(weight_of(&got.batch, "liar-1"), all_ns);
  assert_int_equal(weight_of(&got.batch, "liar-2"), 0);
  kept_batch_fini(&got);
}

static void targets_that_end_within_a_second_share_a_batch(void **state) {
  struct bench *bench = *state;
  struct shipper *shipper = &bench->p.shipper;
  assert_false(shipper_ship_ends(shipper));
  for (unsigned i = 0; i < 50; i++) {
    produce(&bench->producer);
    drain_run(&bench->p.drain);
    shipper_end_target(shipper, 1);
    assert_int_equal(shipper_ship_ends(shipper), i == 0); /* the first is alone, and is shipped at
                                                             once */
  }
  assert_int_equal(shipper->batches, 1);
  shipper->ends_shipped_ns -= NS_PER_SECOND; /* a second later */
  assert_true(shipper_ship_ends(shipper));
  assert_int_equal(shipper->batches, 2);
  assert_int_equal(counter_page_books(kept.page)->shipped, 50);
}

static void a_window_that_somebody_closed_has_its_ends(void **state) {
  struct bench *bench = *state;
  struct shipper *shipper = &bench->p.shipper;
  produce(&bench->producer);
  drain_run(&bench->p.drain);
  shipper_end_target(shipper, 1);
  assert_int_equal(shipper_close_window(shipper, false), 0); /* FLUSH */
  shipper->ends_shipped_ns = 0;
  assert_false(shipper_ship_ends(shipper));
  assert_int_equal(counter_page_books(kept.page)->shipped, 1);
}

static void what_found_no_room_in_the_ring_is_counted_once(void **state) {
  struct bench *bench = *state;
  for (unsigned i = 0; i < 2000; i++) produce(&bench->producer);
  assert_true(bench->producer.full > 0);
  drain_run(&bench->p.drain);
  drain_run(&bench->p.drain);
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->dropped[LOSS_RING_FULL], bench->producer.full);
  assert_int_equal(books->produced, 2000);
}

static void a_last_drain_leaves_nothing_behind_whatever_is_owed(void **state) {
  struct bench *bench = *state;
  struct toll *toll = &bench->p.target->toll;
  for (unsigned i = 0; i < 100; i++) produce(&bench->producer);
  *toll = (struct toll){.debt_ns = 1000000000000, .leaked_ns = clock_monotonic_ns()};
  drain_run_whole(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->produced, 0);
  drain_run_last(&bench->p.drain, 77); /* another run's */
  assert_int_equal(counter_page_books(kept.page)->produced, 0);
  drain_run_last(&bench->p.drain, 0);
  assert_int_equal(counter_page_books(kept.page)->produced, 100);
  assert_int_equal(atomic_load(&bench->producer.slot->head),
                   atomic_load(&bench->producer.slot->tail));
  assert_int_equal(window_records(bench->p.window), 100);
}

/* The first slot's drain takes so long that there is no time for the second. */
static void what_a_last_drain_has_no_time_for_is_dropped_and_counted(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  produce(&bench->producer);
  bench->producer.slot =
      (struct ring_slot *)(void *)(bench->producer.ring.base +
                                   ring_slot_offset(1, bench->producer.ring.slot_bytes));
  ((struct ring_header *)(void *)bench->producer.ring.base)->slots_claimed = 2;
  for (unsigned i = 0; i < 100; i++) produce(&bench->producer);
  target->toll = (struct toll){.debt_ns = 1000000000000, .leaked_ns = clock_monotonic_ns()};
  release_is_slow = true;
  drain_run_last(&bench->p.drain, 0);
  release_is_slow = false;
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->produced, 101);
  assert_int_equal(books->dropped[LOSS_RING_FULL], 100);
  assert_int_equal(target->weight_ns, target->held.unit_ns); /* the rest is [unsampled] */
  assert_int_equal(atomic_load(&bench->producer.slot->head),
                   atomic_load(&bench->producer.slot->tail));
}

static void a_torn_record_is_skipped_and_counted(void **state) {
  struct bench *bench = *state;
  for (unsigned i = 0; i < 10; i++) produce(&bench->producer);
  memset((uint8_t *)bench->producer.slot + RING_SLOT_HEADER_BYTES + 4 * RECORD_BYTES, 0xff, 8);
  drain_run(&bench->p.drain);
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->produced, 5);
  assert_int_equal(books->dropped[LOSS_BAD_RECORD], 1);
  produce(&bench->producer);
  drain_run(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->produced, 6);
}

static void a_targets_wild_claims_of_loss_are_not_believed(void **state) {
  struct bench *bench = *state;
  atomic_store(&bench->producer.slot->dropped_full, UINT64_MAX);
  produce(&bench->producer);
  drain_run(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_RING_FULL], 0);
  assert_int_equal(counter_page_books(kept.page)->produced, 1);
}

static void what_clocks_told_is_weight_and_no_sample_in_any_book(void **state) {
  struct bench *bench = *state;
  struct kept_batch got;
  drain_rest(&bench->p.drain, bench->p.target, 5000);
  assert_int_equal(shipper_close_window(&bench->p.shipper, false), 0);
  kept_take_batch(&bench->p, &got);
  assert_int_equal(got.item.records, 0);
  assert_int_equal(got.batch.sample_count, 1);
  assert_int_equal(got.batch.samples[0].count, 0);
  assert_int_equal(got.batch.samples[0].weight, 5000);
  kept_batch_fini(&got);
  kept_assert_books(0);
  /* A run without records is ended, too. */
  assert_int_equal(shipper_close_window(&bench->p.shipper, true), 0);
  assert_int_equal(bench->p.shipper.batches, 2);
}

/* The weight of the last record that was written. */
static void set_weight(const struct producer *producer, uint32_t weight) {
  uint8_t *data = (uint8_t *)producer->slot + RING_SLOT_HEADER_BYTES;
  uint64_t at = atomic_load(&producer->slot->head) - RECORD_BYTES;
  struct ring_record *record = (struct ring_record *)(void *)(data + at);
  record->weight = weight;
}

static void set_flags(const struct producer *producer, uint8_t flags) {
  uint8_t *data = (uint8_t *)producer->slot + RING_SLOT_HEADER_BYTES;
  uint64_t at = atomic_load(&producer->slot->head) - RECORD_BYTES;
  ((struct ring_record *)(void *)(data + at))->flags = flags;
}

/* Two frames deep, so the stack did not end for lack of room. */
static void a_walk_that_was_led_astray_ended_in_code_of_which_nothing_is_known(void **state) {
  struct bench *bench = *state;
  const struct target *target = bench->p.target;
  produce(&bench->producer);
  produce(&bench->producer);
  set_flags(&bench->producer, RING_RECORD_TRUNCATED);
  drain_run(&bench->p.drain);
  assert_int_equal(target->stacks_ns[STACK_UNTOLD], target->held.unit_ns);
  assert_int_equal(target->stacks_ns[STACK_NO_TABLE], target->held.unit_ns);
  bench->p.target->held.unwind = UNWIND_CHOICE_NONE; /* then no unwinding was tried */
  produce(&bench->producer);
  set_flags(&bench->producer, RING_RECORD_TRUNCATED);
  drain_run(&bench->p.drain);
  assert_int_equal(target->stacks_ns[STACK_UNTOLD], 2 * target->held.unit_ns);
}

/* One sample may be worth much if ticks were merged, but not more than the time that has passed. */
static void a_weight_beyond_the_time_that_has_passed_is_not_believed(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  uint64_t most_ns = target_cpu_ns_max(target);
  assert_true(most_ns < UINT64_C(100) * 365 * 86400 * NS_PER_SECOND);
  produce(&bench->producer);
  set_weight(&bench->producer, (uint32_t)(9 * NS_PER_SECOND / PRODUCER_UNIT_NS));
  produce(&bench->producer);
  set_weight(&bench->producer, UINT32_MAX);
  produce(&bench->producer);
  set_weight(&bench->producer, (uint32_t)((most_ns + 10 * NS_PER_SECOND) / PRODUCER_UNIT_NS));
  drain_run(&bench->p.drain);
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->produced, 3);
  assert_int_equal(books->dropped[LOSS_BAD_RECORD], 2);
  assert_int_equal(target->weight_ns, 9 * NS_PER_SECOND);
  assert_int_equal(shipper_close_window(&bench->p.shipper, false), 0);
  struct kept_batch got;
  kept_take_batch(&bench->p, &got); /* and the window can be encoded */
  assert_int_equal(got.batch.samples[0].weight, 9 * NS_PER_SECOND);
  kept_batch_fini(&got);
}

/* Each is possible, but not their sum. */
static void many_weights_beyond_the_time_that_has_passed_are_not_believed(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  target->weight_ns = target_cpu_ns_max(target) + 40 * NS_PER_SECOND;
  for (unsigned i = 0; i < 1000; i++) {
    produce(&bench->producer);
    set_weight(&bench->producer, (uint32_t)(9 * NS_PER_SECOND / PRODUCER_UNIT_NS));
    drain_run(&bench->p.drain);
  }
  const struct counters *books = counter_page_books(kept.page);
  assert_int_equal(books->produced, 1000);
  assert_in_range(books->dropped[LOSS_BAD_RECORD], 1, 999);
  assert_true(target->weight_ns <= target_cpu_ns_max(target) + 60 * NS_PER_SECOND);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, bench_make_open, bench_unmake)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(records_become_a_batch_in_the_spool),
      CASE(a_window_begins_early_enough_for_what_is_in_it),
      CASE(programs_that_lie_together_cost_no_other_its_samples),
      CASE(targets_that_end_within_a_second_share_a_batch),
      CASE(a_window_that_somebody_closed_has_its_ends),
      CASE(what_found_no_room_in_the_ring_is_counted_once),
      CASE(a_last_drain_leaves_nothing_behind_whatever_is_owed),
      CASE(what_a_last_drain_has_no_time_for_is_dropped_and_counted),
      CASE(a_torn_record_is_skipped_and_counted),
      CASE(what_clocks_told_is_weight_and_no_sample_in_any_book),
      CASE(a_targets_wild_claims_of_loss_are_not_believed),
      CASE(a_walk_that_was_led_astray_ended_in_code_of_which_nothing_is_known),
      CASE(a_weight_beyond_the_time_that_has_passed_is_not_believed),
      CASE(many_weights_beyond_the_time_that_has_passed_are_not_believed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
