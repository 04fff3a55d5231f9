/* SPDX-License-Identifier: Apache-2.0 */
/* The ends of threads, children and programs of a timer target, and processes that must not keep an
   ended target alive. */
#include "producer_fixture.h"

#include "proc/proc_stat.h"
#include "ring/ring_process.h"
#include "targets/children.h"
#include "targets/claim.h"

#include <signal.h>

static void a_slot_is_freed_once_its_thread_is_gone_and_it_is_empty(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  produce(&bench->producer);
  assert_int_equal(drain_reclaim_slots(target, 0), 1);
  atomic_store(&bench->producer.slot->owner, ring_owner(0x3ffffff0, 0x3ffffff0));
  assert_int_equal(drain_reclaim_slots(target, 0), 1);
  drain_run(&bench->p.drain);
  assert_int_equal(drain_reclaim_slots(target, 0), 0);
  assert_int_equal(atomic_load(&bench->producer.slot->owner), 0);
}

static void a_head_that_makes_no_sense_is_counted_once_and_holds_no_dead_target(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  atomic_store(&bench->producer.slot->owner, ring_owner(0x3ffffff0, 0x3ffffff0));
  atomic_store(&bench->producer.slot->head, (1ULL << 32) + 3);
  drain_run(&bench->p.drain);
  drain_run(&bench->p.drain);
  assert_int_equal(counter_page_books(kept.page)->dropped[LOSS_BAD_RECORD], 1);
  assert_int_equal(drain_reclaim_slots(target, 0), 0);
}

static void a_row_is_freed_when_its_child_is_gone_or_execs(void **state) {
  struct bench *bench = *state;
  struct target *target = bench->p.target;
  struct ring_header *header = (struct ring_header *)(void *)bench->producer.ring.base;
  atomic_store(&header->processes[3].who, (uint64_t)0x3ffffff0 << 32); /* an ended process */
  atomic_store(&header->processes[4].who, (uint64_t)getpid() << 32);
  target->held.pid = 0x3fffffe0;
  children_live(target);
  assert_int_equal(atomic_load(&header->processes[3].who), 0);
  assert_int_equal(atomic_load(&header->processes[4].who) >> 32, getpid());
  children_forget(target, getpid());
  assert_int_equal(atomic_load(&header->processes[4].who), 0);
}

static void a_fork_is_awaited_until_its_child_has_a_row(void **state) {
  struct bench *bench = *state;
  const struct target *target = bench->p.target;
  struct ring_writer writer = {.base = bench->producer.ring.base};
  assert_false(children_are_awaited(target));
  ring_process_begin_fork(&writer);
  assert_true(children_are_awaited(target));
  ring_process_end_fork(&writer);
  assert_false(children_are_awaited(target));
}

static void ignore(int signal_number) {
  (void)signal_number;
}

static void a_dead_target_is_not_held_by_a_stranger_it_names(void **state) {
  struct bench *bench = *state;
  const int32_t strangers[] = {1, -1, (int32_t)getppid()};
  struct target *target = bench->p.target;
  struct ring_header *header = (struct ring_header *)(void *)bench->producer.ring.base;
  struct proc_stat self;
  assert_int_equal(proc_stat_read(getpid(), &self), 0);
  target->held.start_ticks = self.start_ticks;
  target->held.pid = 0x3ffffff0; /* no such process */
  target->held.uid = 65534;      /* and of another user */
  assert_false(children_live(target));
  for (unsigned i = 0; i < sizeof strangers / sizeof *strangers; i++) {
    uint32_t pid = (uint32_t)strangers[i];
    atomic_store(&header->processes[i].who, (uint64_t)pid << 32);
    assert_false(children_live(target));
    atomic_store(&bench->producer.slot->owner, ring_owner(pid, pid));
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
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, bench_make_open, bench_unmake)

int main(void) {
  const struct CMUnitTest tests[] = {
      CASE(a_slot_is_freed_once_its_thread_is_gone_and_it_is_empty),
      CASE(a_head_that_makes_no_sense_is_counted_once_and_holds_no_dead_target),
      CASE(a_row_is_freed_when_its_child_is_gone_or_execs),
      CASE(a_fork_is_awaited_until_its_child_has_a_row),
      CASE(a_dead_target_is_not_held_by_a_stranger_it_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
