/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram left by program and daemon: its unshipped counts are shipped once. */
#include "daemon/kept_files.h"
#include "daemon/kept_ship.h"
#include "drain/histogram_drain.h"
#include "drain/postmortem.h"
#include "kept_fixture.h"

#include "common/clock.h"
#include "ring/histogram_books.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { LEFT_RUN = 5, RUN = 99 /* the fixture's */, OTHERS = 7, WEIGHT = 3 };

static uint8_t *ring;
static size_t ring_bytes;
static struct histogram_writer writer;

static int make(void **state) {
  (void)state;
  struct hold_target held = {.collect = RING_HISTOGRAM};
  held.period_ns = KEPT_UNIT_NS;
  if (timer_ring_size_histogram(&held, 1 << 20, 20) != 0) return -1;
  held.unit_ns = KEPT_UNIT_NS; /* exact, as sums are exact here */
  if (kept_make(held) != 0) return -1;
  const struct hold_entry *entry = kept.held.entries[0];
  ring_bytes = (size_t)timer_ring_bytes(&entry->target);
  ring = mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, entry->fds[0], 0);
  return histogram_writer_init(&writer, ring, ring_bytes);
}

static int unmake(void **state) {
  munmap(ring, ring_bytes);
  return kept_unmake(state);
}

static void count(unsigned records) {
  static uint32_t hint;
  for (unsigned i = 0; i < records; i++)
    histogram_writer_add(&writer, (uint64_t)(uintptr_t)&kept_open, WEIGHT, &hint);
}

static void print_path(char path[160], const char *boot) {
  snprintf(path, 160, "%s/kept/%s-%016x.77.hist", kept.dir, boot, LEFT_RUN);
}

static void this_boot(char text[33]) {
  uint8_t boot[16];
  clock_boot_id(boot);
  for (unsigned i = 0; i < sizeof boot; i++) snprintf(text + 2 * i, 3, "%02x", (unsigned)boot[i]);
}

/* Saves the ring's content as a file of the boot BOOT whose program has ended. */
static void leave(const char *boot) {
  char path[160];
  struct image_table *image = image_table_of(ring);
  int32_t pid = image->pid;
  snprintf(path, sizeof path, "%s/kept", kept.dir);
  mkdir(path, 0700);
  print_path(path, boot);
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  assert_true(fd >= 0);
  image->pid = 0x3fffffff;
  assert_int_equal(write(fd, ring, ring_bytes), ring_bytes);
  image->pid = pid;
  close(fd);
}

static bool is_left(const char *boot) {
  char path[160];
  print_path(path, boot);
  return access(path, F_OK) == 0;
}

/* Ships a batch of other samples, under the next number. */
static void ship_others(struct kept_pipeline *p) {
  static const struct code_frame frame = {.module = MODULE_UNKNOWN};
  struct window_series series = {.target = 1,
                                 .service = "other",
                                 .exe = "",
                                 .labels = "",
                                 .sampler = "timer",
                                 .why = "",
                                 .exe_module = MODULE_NONE};
  struct window_sample sample = {
      .series = &series, .thread = "", .frames = &frame, .depth = 1, .count = OTHERS, .weight = 1};
  assert_int_equal(window_add(p->window, &sample), 0);
  counter_page_produce(kept.page, OTHERS);
  assert_int_equal(shipper_close_window(&p->shipper, false), 0);
}

/* The next daemon finds the file, before and after it has shipped other data. */
static void settle_and_ship(struct kept_pipeline *p) {
  kept_ship_settle(&p->shipper, kept.dir);
  ship_others(p);
  kept_ship_left(&p->shipper, kept.dir);
}

static void only_what_was_not_shipped_is_read(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct arena arena;
  struct batch batch;
  kept_open(&p);
  kept_begin(&p);
  count(100);
  assert_int_equal(drain_run_whole(&p.drain), 100);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  count(30);
  histogram_writer_count_reentry(&writer, 4);
  image_stamp(p.target);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), 0);
  assert_int_equal(batch_record_count(&batch), 31);
  assert_int_equal(batch.sample_count, 2);
  assert_int_equal(batch.samples[0].type, SAMPLE_CPU_LR);
  assert_int_equal(batch.samples[0].count, 30);
  assert_int_equal(batch.samples[0].weight, 30 * WEIGHT * KEPT_UNIT_NS);
  assert_int_equal(batch.samples[1].weight, 4 * KEPT_UNIT_NS);
  const struct batch_node *rest = &batch.nodes[batch.samples[1].node];
  assert_string_equal(batch.modules[rest->module].path, "[unsampled]");
  assert_string_equal(batch.targets[0].service, "kept");
  assert_int_equal(batch.targets[0].label_count, 0); /* no last moments: more of the same */
  assert_true(batch.start_boottime_ns <= batch.end_boottime_ns);
  arena_fini(&arena);
  kept_close(&p);
}

/* A pass between the units and their record gave the units to another record. */
static void units_that_went_before_their_record_are_not_shipped_again(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct arena arena;
  struct batch batch;
  struct histogram_header *header = (struct histogram_header *)(void *)(ring + HISTOGRAM_OFFSET);
  kept_open(&p);
  kept_begin(&p);
  count(1);
  atomic_fetch_add(&header->units, 1);
  assert_int_equal(drain_run_whole(&p.drain), 1);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  atomic_fetch_add(&header->samples, 1);
  atomic_fetch_add(&header->contended, 1);
  image_stamp(p.target);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), 0);
  assert_int_equal(batch_record_count(&batch), 1);
  assert_int_equal(batch.samples[0].weight, 0);
  arena_fini(&arena);
  kept_close(&p);
}

static void what_makes_no_sense_is_refused(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct arena arena;
  struct batch batch;
  struct histogram_header *header = (struct histogram_header *)(void *)(ring + HISTOGRAM_OFFSET);
  kept_open(&p);
  kept_begin(&p);
  count(5);
  arena_init(&arena, POSTMORTEM_ARENA_BYTES);
  assert_int_equal(postmortem_read(ring, HISTOGRAM_OFFSET, &arena, &batch), -EBADMSG);
  atomic_store(&header->outside, 1ULL << 62); /* more than all CPUs there ever were */
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EBADMSG);
  atomic_store(&header->outside, 0);
  atomic_store(&header->units, 1ULL << 62);
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EBADMSG);
  atomic_store(&header->units, 0); /* of another moment than the counters */
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), 0);
  assert_int_equal(batch.samples[0].count, 5);
  assert_int_equal(batch.samples[0].weight, 5 * KEPT_UNIT_NS);
  header->taken_offset = 0; /* never shipped */
  assert_int_equal(postmortem_read(ring, ring_bytes, &arena, &batch), -EBADMSG);
  arena_fini(&arena);
  kept_close(&p);
}

static void a_left_file_is_shipped_once_and_goes(void **state) {
  (void)state;
  struct kept_pipeline p;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  kept_begin(&p);
  count(40);
  leave(boot);
  settle_and_ship(&p);
  kept_assert_books(OTHERS + 40);
  assert_false(is_left(boot));
  kept_ship_left(&p.shipper, kept.dir);
  kept_assert_books(OTHERS + 40);
  kept_close(&p);
  assert_int_equal(kept_spooled(), OTHERS + 40);
}

/* The worker died between the announcement and the batch, so the next batch has that number. */
static void a_number_that_was_announced_in_vain_may_be_another_batchs(void **state) {
  (void)state;
  struct kept_pipeline p;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  kept_begin(&p);
  count(40);
  struct image_table *image = image_table_of(ring);
  image->shipped_run = RUN;
  image->shipped_seq = atomic_load(&kept.page->next_seq);
  leave(boot);
  settle_and_ship(&p);
  kept_assert_books(OTHERS + 40);
  assert_false(is_left(boot));
  kept_close(&p);
  assert_int_equal(kept_spooled(), OTHERS + 40);
}

/* The journal of a histogram whose daemon died during its life; BATCH: whether that batch was
   written. */
static void leave_announced(struct kept_pipeline *p, const char *boot, bool has_batch) {
  uint64_t since_ns = UINT64_MAX, seq = atomic_load(&kept.page->next_seq);
  kept_begin(p);
  count(40);
  assert_int_equal(drain_run_whole(&p->drain), 40);
  histogram_drain_seal(&p->drain, (struct histogram_note){RUN, seq}, &since_ns);
  count(2);
  leave(boot);
  histogram_drain_settle(&p->drain, false); /* does not affect the live histogram */
  window_clear(p->window);
  if (has_batch) ship_others(p);
}

static void a_journal_without_its_batch_is_shipped_with_the_rest(void **state) {
  (void)state;
  struct kept_pipeline p;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  leave_announced(&p, boot, false);
  settle_and_ship(&p);
  kept_assert_books(OTHERS + 42);
  kept_close(&p);
  assert_int_equal(kept_spooled(), OTHERS + 42);
}

static void a_journal_whose_batch_was_spooled_is_not_shipped_again(void **state) {
  (void)state;
  struct kept_pipeline p;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  leave_announced(&p, boot, true);
  settle_and_ship(&p);
  kept_assert_books(2 * OTHERS + 2);
  kept_close(&p);
}

static void what_was_shipped_takes_its_weight_along(void **state) {
  (void)state;
  struct kept_pipeline p;
  struct kept_batch got;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  leave_announced(&p, boot, true);
  kept_ship_settle(&p.shipper, kept.dir);
  kept_ship_left(&p.shipper, kept.dir);
  kept_take_batch(&p, &got); /* the others */
  spool_ack(p.spool, got.item.run, got.item.seq);
  kept_batch_fini(&got);
  kept_take_batch(&p, &got);
  assert_int_equal(got.batch.sample_count, 1);
  assert_int_equal(got.batch.samples[0].count, 2);
  assert_int_equal(got.batch.samples[0].weight, 2 * WEIGHT * KEPT_UNIT_NS);
  kept_batch_fini(&got);
  kept_close(&p);
}

/* Whether that batch was sent before the machine went down is unknown. */
static void of_another_boot_what_was_announced_is_not_shipped_again(void **state) {
  (void)state;
  static const char boot[] = "00112233445566778899aabbccddeeff";
  struct kept_pipeline p;
  kept_open(&p);
  leave_announced(&p, boot, false);
  settle_and_ship(&p);
  kept_assert_books(OTHERS + 2);
  assert_false(is_left(boot));
  kept_close(&p);
}

static void what_cannot_be_read_is_one_bad_record_and_goes(void **state) {
  (void)state;
  struct kept_pipeline p;
  char boot[33];
  this_boot(boot);
  kept_open(&p);
  kept_begin(&p);
  image_table_of(ring)->region_count = 1 << 30;
  leave(boot);
  settle_and_ship(&p);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_BAD_RECORD], 1);
  kept_assert_books(OTHERS + 1);
  assert_false(is_left(boot));
  kept_close(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(only_what_was_not_shipped_is_read),
      TEST(units_that_went_before_their_record_are_not_shipped_again),
      TEST(what_makes_no_sense_is_refused),
      TEST(a_left_file_is_shipped_once_and_goes),
      TEST(a_number_that_was_announced_in_vain_may_be_another_batchs),
      TEST(a_journal_without_its_batch_is_shipped_with_the_rest),
      TEST(a_journal_whose_batch_was_spooled_is_not_shipped_again),
      TEST(what_was_shipped_takes_its_weight_along),
      TEST(of_another_boot_what_was_announced_is_not_shipped_again),
      TEST(what_cannot_be_read_is_one_bad_record_and_goes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
