/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline from a timer ring to the spool, in one process and with workers that are killed. */
#include "daemon/shipper.h"
#include "drain/drain.h"
#include "proc/proc_stat.h"
#include "ring/ring_process.h"
#include "targets/children.h"
#include "targets/claim.h"
#include "targets/timer_ring.h"

#include "common/arena.h"
#include "common/buf.h"
#include "common/clock.h"
#include "proto/batch_codec.h"
#include "proto/compress.h"
#include "proto/limits.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { KILLS = 200, RECORD_BYTES = 24 };

static char dir[64];
static struct counter_page *page;
static struct hold_table held;
static struct perf_rings no_perf;

struct pipeline {
  struct targets targets;
  struct modules *modules;
  struct processes *processes;
  struct window *window;
  struct drain drain;
  struct spool *spool;
  struct shipper shipper;
};

static void on_file(void *context, struct span id, const char *path, const char *open_path) {
  (void)context;
  (void)id;
  (void)path;
  (void)open_path;
}

static void on_loss(void *context, uint64_t run, enum loss_reason reason, uint64_t records) {
  (void)context;
  (void)run;
  counter_page_unship(page, reason, records);
}

static void open_spool(struct spool **ret) {
  char path[80];
  struct spool_limits limits = {64 << 20, 1 << 20, 3600000000000ULL};
  snprintf(path, sizeof path, "%s/spool", dir);
  assert_int_equal(spool_open(path, &limits, on_loss, NULL, ret), 0);
}

static void open_pipeline(struct pipeline *p) {
  memset(p, 0, sizeof *p);
  targets_restore(&p->targets, &held, NULL);
  assert_int_equal(modules_new(on_file, NULL, &p->modules), 0);
  assert_int_equal(processes_new(p->modules, &p->processes), 0);
  assert_int_equal(window_new(p->modules, &p->window), 0);
  p->drain = (struct drain){.page = page,
                            .targets = &p->targets,
                            .processes = p->processes,
                            .modules = p->modules,
                            .window = p->window,
                            .perf = &no_perf};
  assert_int_equal(drain_init(&p->drain), 0);
  open_spool(&p->spool);
  p->shipper = (struct shipper){.drain = &p->drain, .spool = p->spool};
  drain_recover(&p->drain);
  shipper_recover(&p->shipper);
}

static void close_pipeline(struct pipeline *p) {
  spool_close(p->spool);
  drain_fini(&p->drain);
  window_free(p->window);
  processes_free(p->processes);
  modules_free(p->modules);
  for (uint32_t row = 0; row < HOLD_TARGETS_MAX; row++) { /* the descriptors stay the table's */
    if (p->targets.rows[row] != NULL) p->targets.rows[row]->held.fd_count = 0;
  }
  targets_fini(&p->targets);
}

static int make(void **state) {
  (void)state;
  char path[80];
  snprintf(dir, sizeof dir, "/tmp/drain-test-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  snprintf(path, sizeof path, "%s/books", dir);
  if (counter_page_open(path, 99, &page) != 0) return -1;
  struct hold_target target = {.id = 1,
                               .kind = HOLD_TIMER,
                               .pid = getpid(),
                               .uid = getuid(),
                               .asked_mhz = 100000,
                               .period_ns = 10000000,
                               .fd_count = 1,
                               .service = "test"};
  timer_ring_size(&target, 0);
  target.unit_ns = target.period_ns;
  int fd = timer_ring_make(&target);
  return fd >= 0 && hold_table_add_take(&held, &target, &fd) ? 0 : -1;
}

static int unmake(void **state) {
  (void)state;
  char command[120];
  hold_table_fini(&held);
  counter_page_close(page);
  snprintf(command, sizeof command, "rm -rf '%s'", dir);
  return system(command);
}

/* The target's half: what the preload's handler would do in slot 0. */
struct producer {
  struct ring_reader ring;
  struct ring_slot *slot;
  uint64_t written, full;
};

static void open_producer(struct producer *producer) {
  const struct hold_entry *entry = held.entries[0];
  memset(producer, 0, sizeof *producer);
  assert_int_equal(timer_ring_map(&entry->target, entry->fds[0], &producer->ring), 0);
  producer->slot = (struct ring_slot *)(void *)(producer->ring.base +
                                                ring_slot_offset(0, producer->ring.slot_bytes));
  atomic_store(&producer->slot->owner,
               ring_owner((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid)));
}

static void produce(struct producer *producer) {
  struct ring_slot *slot = producer->slot;
  uint32_t size = producer->ring.slot_bytes;
  uint64_t head = atomic_load(&slot->head), tail = atomic_load(&slot->tail);
  uint32_t at = (uint32_t)(head & (size - 1)), pad = size - at < RECORD_BYTES ? size - at : 0;
  if (head + pad + RECORD_BYTES - tail > size) {
    atomic_fetch_add(&slot->dropped_full, 1);
    producer->full++;
    return;
  }
  uint8_t *data = (uint8_t *)slot + RING_SLOT_HEADER_BYTES;
  if (pad > 0) {
    struct ring_record padding = {(uint16_t)pad, 0, RING_RECORD_PADDING, 0};
    memcpy(data + at, &padding, sizeof padding);
    at = 0;
  }
  struct ring_record record = {RECORD_BYTES, 2, 0, 1};
  uint64_t pc[2] = {(uint64_t)(uintptr_t)&produce, (uint64_t)(uintptr_t)&open_producer + 1};
  memcpy(data + at, &record, sizeof record);
  memcpy(data + at + sizeof record, pc, sizeof pc);
  atomic_store(&slot->head, head + pad + RECORD_BYTES);
  producer->written++;
}

/* Every move of a tail passes here: what it will mean must be written down by then, and the slot's
   counts must have moved already. */
static bool is_slow;
void __real_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);
void __wrap_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail);

void __wrap_ring_reader_release(const struct ring_reader *ring, uint32_t slot, uint64_t tail) {
  struct counter_drain pending;
  struct ring_view view;
  assert_true(counter_page_has_pending(page, &pending));
  assert_int_equal(pending.slot, slot);
  assert_int_equal(pending.tail, tail);
  ring_reader_look(ring, slot, &view);
  assert_int_equal(view.counted_full, pending.counted_full);
  __real_ring_reader_release(ring, slot, tail);
  uint64_t begun = clock_cpu_ns();
  while (is_slow && clock_cpu_ns() - begun < (TOLL_LAST_MS + 10) * NS_PER_MS) {
  }
}

/* The page as a worker leaves it that was killed after step 2: one record is about to be drained.
 */
static void prepare_one(struct producer *producer) {
  struct counters after = *counter_page_books(page);
  struct counter_drain drain = {.ring = 1, .counted_full = 7};
  produce(producer);
  after.produced++;
  drain.tail = atomic_load(&producer->slot->head);
  counter_page_prepare(page, &drain, &after);
}

static void a_drain_that_had_not_moved_the_tail_is_done_again(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  prepare_one(&producer);
  open_pipeline(&p);
  assert_int_equal(counter_page_books(page)->produced, 0);
  drain_run(&p.drain);
  assert_int_equal(counter_page_books(page)->produced, 1);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_WORKER_KILLED], 0);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_drain_that_had_moved_the_tail_is_booked(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  prepare_one(&producer);
  __real_ring_reader_release(&producer.ring, 0, atomic_load(&producer.slot->head));
  open_pipeline(&p);
  drain_run(&p.drain);
  assert_int_equal(counter_page_books(page)->produced, 1);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_WORKER_KILLED], 1);
  assert_int_equal(producer.slot->counted_full, 7);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void records_become_a_batch_in_the_spool(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  for (unsigned i = 0; i < 1000; i++) {
    produce(&producer);
    if (i % 100 == 99) drain_run(&p.drain);
  }
  assert_int_equal(counter_page_books(page)->produced, 1000);
  assert_int_equal(shipper_close_window(&p.shipper, false), 0);
  struct spool_item item;
  struct buf raw = {0};
  struct arena arena;
  struct batch batch;
  char why[128] = "";
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(spool_next(p.spool, &item), 0);
  assert_int_equal(item.run, 99);
  assert_int_equal(item.seq, 1);
  assert_int_equal(item.records, 1000);
  assert_int_equal(decompress(item.zstd, item.raw_len, LIMIT_BATCH_RAW_BYTES, &raw), 0);
  assert_int_equal(batch_decode(buf_span(&raw), &arena, &batch, why, sizeof why), 0);
  assert_int_equal(batch.counters.produced, 1000);
  assert_int_equal(batch.counters.shipped, 1000);
  assert_int_equal(batch.samples[0].weight, 1000ULL * 10000000);
  assert_string_equal(batch.targets[0].service, "test");
  assert_string_equal(batch.targets[0].sampler, "timer");
  arena_fini(&arena);
  buf_fini(&raw);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void what_found_no_room_in_the_ring_is_counted_once(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  for (unsigned i = 0; i < 2000; i++) produce(&producer);
  assert_true(producer.full > 0);
  drain_run(&p.drain);
  drain_run(&p.drain);
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->dropped[LOSS_RING_FULL], producer.full);
  assert_int_equal(books->produced, 2000);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_last_drain_leaves_nothing_behind_whatever_is_owed(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  struct toll *toll = &targets_find(&p.targets, 1)->toll;
  for (unsigned i = 0; i < 100; i++) produce(&producer);
  *toll = (struct toll){.debt_ns = 1000000000000, .leaked_ns = clock_monotonic_ns()};
  drain_run_whole(&p.drain);
  assert_int_equal(counter_page_books(page)->produced, 0);
  drain_run_last(&p.drain, 77); /* another run's */
  assert_int_equal(counter_page_books(page)->produced, 0);
  drain_run_last(&p.drain, 0);
  assert_int_equal(counter_page_books(page)->produced, 100);
  assert_int_equal(atomic_load(&producer.slot->head), atomic_load(&producer.slot->tail));
  assert_int_equal(window_records(p.window), 100);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

/* The first slot's drain takes so long that there is no time for the second. */
static void what_a_last_drain_has_no_time_for_is_dropped_and_counted(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  struct target *target = targets_find(&p.targets, 1);
  produce(&producer);
  producer.slot = (struct ring_slot *)(void *)(producer.ring.base +
                                               ring_slot_offset(1, producer.ring.slot_bytes));
  for (unsigned i = 0; i < 100; i++) produce(&producer);
  target->toll = (struct toll){.debt_ns = 1000000000000, .leaked_ns = clock_monotonic_ns()};
  is_slow = true;
  drain_run_last(&p.drain, 0);
  is_slow = false;
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->produced, 101);
  assert_int_equal(books->dropped[LOSS_RING_FULL], 100);
  assert_int_equal(target->weight_ns, target->held.unit_ns); /* the rest is [unsampled] */
  assert_int_equal(atomic_load(&producer.slot->head), atomic_load(&producer.slot->tail));
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_row_is_freed_when_its_child_is_gone_or_execs(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  struct target *target = targets_find(&p.targets, 1);
  struct ring_header *header = (struct ring_header *)(void *)producer.ring.base;
  atomic_store(&header->processes[3].who, (uint64_t)0x3ffffff0 << 32); /* gone */
  atomic_store(&header->processes[4].who, (uint64_t)getpid() << 32);
  target->held.pid = 0x3fffffe0;
  children_live(target);
  assert_int_equal(atomic_load(&header->processes[3].who), 0);
  assert_int_equal(atomic_load(&header->processes[4].who) >> 32, getpid());
  children_forget(target, getpid());
  assert_int_equal(atomic_load(&header->processes[4].who), 0);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_fork_is_awaited_until_its_child_has_a_row(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  const struct target *target = targets_find(&p.targets, 1);
  struct ring_writer writer = {.base = producer.ring.base};
  assert_false(children_are_awaited(target));
  ring_process_begin_fork(&writer);
  assert_true(children_are_awaited(target));
  ring_process_end_fork(&writer);
  assert_false(children_are_awaited(target));
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void ignore(int signal_number) {
  (void)signal_number;
}

static void a_dead_target_is_not_held_by_a_stranger_it_names(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  const int32_t strangers[] = {1, -1, (int32_t)getppid()};
  open_producer(&producer);
  open_pipeline(&p);
  struct target *target = targets_find(&p.targets, 1);
  struct ring_header *header = (struct ring_header *)(void *)producer.ring.base;
  struct proc_stat self;
  assert_int_equal(proc_stat_read(getpid(), &self), 0);
  target->held.start_ticks = self.start_ticks;
  target->held.pid = 0x3ffffff0; /* it is gone */
  target->held.uid = 65534;      /* and was nobody's */
  assert_false(children_live(target));
  for (unsigned i = 0; i < sizeof strangers / sizeof *strangers; i++) {
    uint32_t pid = (uint32_t)strangers[i];
    atomic_store(&header->processes[i].who, (uint64_t)pid << 32);
    assert_false(children_live(target));
    atomic_store(&producer.slot->owner, ring_owner(pid, pid));
    assert_int_equal(drain_reclaim_slots(target, 0), 0);
  }
  target->held.uid = getuid();
  atomic_store(&header->processes[9].who, (uint64_t)getpid() << 32);
  assert_false(children_live(target)); /* it does not catch the signal: it gives no samples */
  signal(SIGURG, ignore);
  assert_true(children_live(target));
  target->row_claims[9].start_ticks++; /* the number was given again */
  assert_false(children_live(target));
  signal(SIGURG, SIG_DFL);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_torn_record_is_skipped_and_counted(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  for (unsigned i = 0; i < 10; i++) produce(&producer);
  memset((uint8_t *)producer.slot + RING_SLOT_HEADER_BYTES + 4 * RECORD_BYTES, 0xff, 8);
  drain_run(&p.drain);
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->produced, 5);
  assert_int_equal(books->dropped[LOSS_BAD_RECORD], 1);
  produce(&producer);
  drain_run(&p.drain);
  assert_int_equal(counter_page_books(page)->produced, 6);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_targets_wild_claims_of_loss_are_not_believed(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  atomic_store(&producer.slot->dropped_full, UINT64_MAX);
  produce(&producer);
  drain_run(&p.drain);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_RING_FULL], 0);
  assert_int_equal(counter_page_books(page)->produced, 1);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_slot_is_freed_once_its_thread_is_gone_and_it_is_empty(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  struct target *target = targets_find(&p.targets, 1);
  produce(&producer);
  assert_int_equal(drain_reclaim_slots(target, 0), 1);
  atomic_store(&producer.slot->owner, ring_owner(0x3ffffff0, 0x3ffffff0));
  assert_int_equal(drain_reclaim_slots(target, 0), 1);
  drain_run(&p.drain);
  assert_int_equal(drain_reclaim_slots(target, 0), 0);
  assert_int_equal(atomic_load(&producer.slot->owner), 0);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

static void a_head_that_makes_no_sense_is_counted_once_and_holds_no_dead_target(void **state) {
  (void)state;
  struct pipeline p;
  struct producer producer;
  open_producer(&producer);
  open_pipeline(&p);
  struct target *target = targets_find(&p.targets, 1);
  atomic_store(&producer.slot->owner, ring_owner(0x3ffffff0, 0x3ffffff0));
  atomic_store(&producer.slot->head, (1ULL << 32) + 3);
  drain_run(&p.drain);
  drain_run(&p.drain);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], 1);
  assert_int_equal(drain_reclaim_slots(target, 0), 0);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
  close_pipeline(&p);
}

/* A worker that drains and ships as fast as it can, until it is killed. */
static void run_worker(void) {
  struct pipeline p;
  open_pipeline(&p);
  for (unsigned i = 0;; i++) {
    drain_run(&p.drain);
    if (i % 3 == 0) shipper_close_window(&p.shipper, false);
  }
}

static uint64_t records_in_spool(void) {
  struct spool_item item;
  struct spool *spool;
  uint64_t records = 0;
  open_spool(&spool);
  while (spool_next(spool, &item) == 0) {
    records += item.records;
    spool_ack(spool, item.run, item.seq); /* only so many are handed out at once */
  }
  spool_close(spool);
  return records;
}

/* Keeps the ring half full for as long as the worker lives, so that the kill meets it at work. */
static void feed_and_kill(struct producer *producer, pid_t worker) {
  uint64_t tail = atomic_load(&producer->slot->tail);
  long rounds = rand() % 3000;
  while (atomic_load(&producer->slot->tail) == tail) {
    produce(producer);
    if (producer->full % 100 == 99) usleep(100); /* it starts: do not lose more than is believed */
  }
  while (rounds-- > 0) {
    uint64_t waiting = atomic_load(&producer->slot->head) - atomic_load(&producer->slot->tail);
    if (waiting < producer->ring.slot_bytes / 2) produce(producer);
  }
  kill(worker, SIGKILL);
  waitpid(worker, NULL, 0);
}

static void kill_nine_at_any_moment_keeps_the_books(void **state) {
  (void)state;
  struct producer producer;
  open_producer(&producer);
  srand(1);
  for (unsigned i = 0; i < KILLS; i++) {
    pid_t worker = fork();
    if (worker == 0) {
      run_worker();
      _exit(0);
    }
    feed_and_kill(&producer, worker);
  }
  struct pipeline p;
  open_pipeline(&p);
  drain_run(&p.drain);
  assert_int_equal(shipper_close_window(&p.shipper, true), 0);
  const struct counters *books = counter_page_books(page);
  print_message("produced %llu, shipped %llu, killed %llu, ring full %llu\n",
                (unsigned long long)books->produced, (unsigned long long)books->shipped,
                (unsigned long long)books->dropped[LOSS_WORKER_KILLED],
                (unsigned long long)books->dropped[LOSS_RING_FULL]);
  assert_int_equal(books->produced, producer.written + producer.full);
  assert_int_equal(books->dropped[LOSS_RING_FULL], producer.full);
  assert_int_equal(books->produced, books->shipped + loss_total(books));
  assert_int_equal(books->final, 1);
  uint64_t shipped = books->shipped;
  close_pipeline(&p);
  assert_int_equal(records_in_spool(), shipped);
  timer_ring_unmap(&held.entries[0]->target, &producer.ring);
}

static void a_run_that_was_never_ended_is_closed_by_the_next(void **state) {
  (void)state;
  struct pipeline p;
  struct counter_page old = {.magic = COUNTER_PAGE_MAGIC};
  old.books[1] = (struct counters){.run = 55, .produced = 100, .shipped = 70};
  old.books[1].dropped[LOSS_REENTRY] = 5;
  atomic_store(&old.current, 1);
  atomic_store(&old.next_seq, 8);
  open_pipeline(&p);
  assert_int_equal(shipper_close_old_run(&p.shipper, &old), 0);
  /* Killed before the page was taken away: the same again. */
  assert_int_equal(shipper_close_old_run(&p.shipper, &old), 0);
  struct spool_item item;
  struct buf raw = {0};
  struct arena arena;
  struct batch batch;
  char why[128] = "";
  arena_init(&arena, LIMIT_BATCH_UNPACK_BYTES);
  assert_int_equal(spool_next(p.spool, &item), 0);
  assert_int_equal(item.seq, 8);
  assert_int_equal(spool_next(p.spool, &item), 0);
  assert_int_equal(item.run, 55);
  assert_int_equal(item.seq, 9);
  assert_int_equal(item.records, 0);
  assert_int_equal(decompress(item.zstd, item.raw_len, LIMIT_BATCH_RAW_BYTES, &raw), 0);
  assert_int_equal(batch_decode(buf_span(&raw), &arena, &batch, why, sizeof why), 0);
  assert_int_equal(batch.counters.final, 1);
  assert_int_equal(batch.counters.dropped[LOSS_WORKER_KILLED], 25);
  assert_int_equal(batch.counters.produced, batch.counters.shipped + loss_total(&batch.counters));
  arena_fini(&arena);
  buf_fini(&raw);
  close_pipeline(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(a_drain_that_had_not_moved_the_tail_is_done_again),
      TEST(a_drain_that_had_moved_the_tail_is_booked),
      TEST(records_become_a_batch_in_the_spool),
      TEST(what_found_no_room_in_the_ring_is_counted_once),
      TEST(a_last_drain_leaves_nothing_behind_whatever_is_owed),
      TEST(what_a_last_drain_has_no_time_for_is_dropped_and_counted),
      TEST(a_row_is_freed_when_its_child_is_gone_or_execs),
      TEST(a_fork_is_awaited_until_its_child_has_a_row),
      TEST(a_dead_target_is_not_held_by_a_stranger_it_names),
      TEST(a_torn_record_is_skipped_and_counted),
      TEST(a_targets_wild_claims_of_loss_are_not_believed),
      TEST(a_slot_is_freed_once_its_thread_is_gone_and_it_is_empty),
      TEST(a_head_that_makes_no_sense_is_counted_once_and_holds_no_dead_target),
      TEST(kill_nine_at_any_moment_keeps_the_books),
      TEST(a_run_that_was_never_ended_is_closed_by_the_next),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
