/* SPDX-License-Identifier: Apache-2.0 */
/* The handler, called directly with events that are the agent's own, foreign, late or forged. */
#include "preload/arch.h"
#include "preload/sampler.h"
#include "preload/thread_slot.h"
#include "ring/ring_reader.h"
#include "ring/ring_switch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <cmocka.h>

enum { SLOTS = 2, SLOT_BYTES = RING_SLOT_BYTES_MIN, PID = 77, BEHIND_BYTES = 64 };

static struct ring_reader reader;
static struct thread_slot *thread;
static uint32_t next_tid = 1;

static struct thread_slot *new_thread(void) {
  struct thread_slot *slot = thread_slot_claim(ring_owner(PID, next_tid++));
  assert_non_null(slot);
  slot->stack = (struct unwind_stack){.low = 0};
  memcpy(slot->name, "worker", 7);
  return slot;
}

static int setup_with(struct ring_terms from) {
  struct ring_writer writer;
  struct ring_terms terms;
  size_t size = ring_total_bytes(SLOTS, SLOT_BYTES);
  reader = (struct ring_reader){
      .base = calloc(1, size + BEHIND_BYTES), .slot_count = SLOTS, .slot_bytes = SLOT_BYTES};
  ring_init(&reader, &from);
  if (ring_writer_init(&writer, &terms, reader.base, size) != 0) return -1;
  sampler_init(&writer);
  thread = new_thread();
  return 0;
}

static int setup(void **state) {
  (void)state;
  return setup_with((struct ring_terms){.period_ns = 10000000, .signal = 61});
}

/* Records of one address each, which are shorter than a mark. */
static int setup_shallow(void **state) {
  (void)state;
  return setup_with((struct ring_terms){.period_ns = 10000000, .signal = 61, .depth_max = 1});
}

/* A process's clock, and this thread known by its thread pointer. */
static int setup_itimer(void **state) {
  (void)state;
  int error = setup_with((struct ring_terms){
      .period_ns = 10000000, .unit_ns = 1000, .signal = SIGPROF, .clock = RING_CLOCK_PROF});
  if (error != 0) return error;
  atomic_store(&thread->self, arch_thread_pointer());
  atomic_store(&thread->scale, 10000);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  thread_slot_release(thread);
  free(reader.base);
  return 0;
}

static siginfo_t expiry(void *token, int overrun) {
  siginfo_t event;
  memset(&event, 0, sizeof event);
  event.si_signo = 61;
  event.si_code = SI_TIMER;
  event.si_overrun = overrun;
  event.si_value.sival_ptr = token;
  return event;
}

static void deliver(siginfo_t event) {
  ucontext_t context;
  getcontext(&context);
  sampler_on_signal(61, &event, &context);
}

static struct ring_view look(unsigned slot) {
  struct ring_view view;
  ring_reader_look(&reader, slot, &view);
  return view;
}

static struct ring_sample first_sample(unsigned slot) {
  struct ring_view view = look(slot);
  uint8_t bytes[SLOT_BYTES];
  struct ring_sample sample = {0};
  size_t len = ring_reader_copy(&reader, slot, &view, bytes);
  assert_true(ring_record_decode(bytes, len, &sample) > 0);
  return sample;
}

static void an_expiry_becomes_a_record_of_its_weight(void **state) {
  (void)state;
  deliver(expiry(thread_slot_token(thread), 4));
  struct ring_sample sample = first_sample(0);
  assert_int_equal(sample.weight, 5);
  assert_int_equal(sample.depth, 1);
  assert_true(sample.pc[0] != 0);
  assert_int_equal(look(0).pid, PID);
  assert_string_equal(look(0).name, "worker");
}

static void a_negative_overrun_counts_as_none(void **state) {
  (void)state;
  deliver(expiry(thread_slot_token(thread), -3));
  assert_int_equal(first_sample(0).weight, 1);
}

static void a_signal_that_was_blocked_is_no_sample(void **state) {
  (void)state;
  siginfo_t event = expiry(thread_slot_token(thread), 40);
  ucontext_t context;
  getcontext(&context);
  sigaddset(&context.uc_sigmask, 61); /* it is blocked again when the call ends */
  sampler_on_signal(61, &event, &context);
  assert_int_equal(look(0).pid, 0);
  sigdelset(&context.uc_sigmask, 61);
  sigaddset(&context.uc_sigmask, 60);
  sampler_on_signal(61, &event, &context);
  assert_int_equal(look(0).pid, PID);
}

#ifdef __x86_64__
static void a_signal_behind_the_call_that_lets_it_through_is_no_sample(void **state) {
  (void)state;
  siginfo_t event = expiry(thread_slot_token(thread), 40);
  ucontext_t context;
  getcontext(&context);
  greg_t *registers = context.uc_mcontext.gregs;
  registers[REG_RCX] = registers[REG_RIP];
  registers[REG_R10] = 8; /* rt_sigprocmask(SIG_UNBLOCK, set, NULL, 8) returned 0 */
  registers[REG_RDX] = registers[REG_RAX] = 0;
  registers[REG_RDI] = SIG_UNBLOCK;
  uintptr_t pc = (uintptr_t)registers[REG_RIP];
  sampler_mask_calls[0] = pc - 32;
  sampler_on_signal(61, &event, &context);
  assert_int_equal(look(0).pid, 0);
  sampler_mask_calls[0] = pc - 512; /* another function's call: fork's */
  sampler_on_signal(61, &event, &context);
  assert_int_equal(look(0).pid, PID);
}

static void a_call_that_asks_for_the_mask_before_has_let_nothing_through(void **state) {
  (void)state;
  siginfo_t event = expiry(thread_slot_token(thread), 40);
  ucontext_t context;
  getcontext(&context);
  greg_t *registers = context.uc_mcontext.gregs;
  registers[REG_RCX] = registers[REG_RIP];
  registers[REG_R10] = 8;
  registers[REG_RDX] = 0x1000; /* fibers do that */
  registers[REG_RAX] = 0;
  registers[REG_RDI] = SIG_SETMASK;
  sampler_mask_calls[0] = (uintptr_t)registers[REG_RIP] - 32;
  sampler_on_signal(61, &event, &context);
  assert_int_equal(look(0).pid, PID);
}
#endif

static void a_thread_takes_no_ring_slot_before_its_first_sample(void **state) {
  (void)state;
  assert_int_equal(look(0).pid, 0);
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(look(0).pid, PID);
}

static void a_signal_that_no_timer_made_is_let_pass(void **state) {
  (void)state;
  siginfo_t event = expiry(thread_slot_token(thread), 0);
  event.si_code = SI_QUEUE;
  deliver(event);
  event.si_code = SI_USER;
  deliver(event);
  assert_int_equal(look(0).head, 0);
}

static void a_token_that_means_nobody_is_let_pass(void **state) {
  (void)state;
  char *token = thread_slot_token(thread);
  void *const forged[] = {NULL,        (void *)1,        (void *)UINTPTR_MAX, &reader,
                          token + 1,   token - 1,        token + 64,          token + 128,
                          token - 128, token + (1 << 30)};
  for (unsigned i = 0; i < sizeof forged / sizeof *forged; i++) deliver(expiry(forged[i], 0));
  assert_int_equal(look(0).pid, 0);
}

static void a_late_signal_of_an_ended_thread_finds_nobody(void **state) {
  (void)state;
  void *token = thread_slot_token(thread);
  thread_slot_release(thread);
  deliver(expiry(token, 0));
  struct thread_slot *next = new_thread();
  assert_ptr_equal(next, thread);
  deliver(expiry(token, 0));
  assert_int_equal(look(0).pid, 0);
  deliver(expiry(thread_slot_token(next), 0));
  assert_int_equal(look(0).pid, PID);
}

static void a_signal_inside_the_handler_is_counted(void **state) {
  (void)state;
  deliver(expiry(thread_slot_token(thread), 0));
  uint64_t head = look(0).head;
  thread->busy = 1;
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(look(0).dropped_reentry, 1);
  assert_int_equal(look(0).head, head);
  thread->busy = 0;
}

/* The records of slot 0, decoded in order. */
static unsigned all_records(struct ring_sample *ret, unsigned room) {
  struct ring_view view = look(0);
  uint8_t bytes[SLOT_BYTES];
  unsigned count = 0;
  size_t len = ring_reader_copy(&reader, 0, &view, bytes);
  for (size_t at = 0; at < len && count < room; count++) {
    long size = ring_record_decode(bytes + at, len - at, &ret[count]);
    assert_true(size > 0);
    at += (size_t)size;
  }
  return count;
}

static void a_new_name_is_marked_once_before_the_next_sample(void **state) {
  (void)state;
  struct ring_sample records[8];
  deliver(expiry(thread_slot_token(thread), 0));
  assert_true(thread_slot_tell(thread, "a name of twenty char"));
  deliver(expiry(thread_slot_token(thread), 0));
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(all_records(records, 8), 4);
  assert_int_equal(records[0].mark_part, RING_MARK_NONE);
  assert_int_equal(records[1].mark_part, RING_MARK_WHOLE);
  assert_int_equal(records[1].depth, 0);
  assert_memory_equal(records[1].mark.name, "a name of twent\0", RING_NAME_BYTES);
  assert_true(records[2].depth > 0 && records[3].depth > 0);
}

static void a_slot_claimed_after_an_unloading_begins_with_its_number(void **state) {
  (void)state;
  struct ring_sample records[8];
  ring_writer_count_unload(sampler_ring());
  ring_writer_count_unload(sampler_ring());
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(all_records(records, 8), 2);
  assert_int_equal(records[0].mark_part, RING_MARK_WHOLE);
  assert_int_equal(records[0].mark.unloads, 2);
  assert_true(records[1].depth > 0);
}

/* Empties slot INDEX and puts its next byte at OFFSET. */
static void empty_at(unsigned index, uint64_t offset) {
  struct ring_slot *slot =
      (struct ring_slot *)(void *)(reader.base + ring_slot_offset(index, SLOT_BYTES));
  atomic_store(&slot->head, offset);
  atomic_store(&slot->tail, offset);
}

static void a_mark_stays_in_its_slot_where_records_are_shorter(void **state) {
  (void)state;
  struct thread_slot *second = new_thread();
  struct ring_sample records[4];
  uint8_t next[RING_SLOT_HEADER_BYTES], none[BEHIND_BYTES] = {0};
  const uint8_t *after_first = reader.base + ring_slot_offset(1, SLOT_BYTES);
  deliver(expiry(thread_slot_token(thread), 0));
  deliver(expiry(thread_slot_token(second), 0));
  for (unsigned offset = 0; offset < SLOT_BYTES; offset += 8) {
    empty_at(0, offset);
    empty_at(1, offset);
    memcpy(next, after_first, sizeof next);
    thread_slot_tell(thread, "first");
    deliver(expiry(thread_slot_token(thread), 0));
    assert_memory_equal(after_first, next, sizeof next);
    thread_slot_tell(second, "last");
    deliver(expiry(thread_slot_token(second), 0));
    assert_memory_equal(reader.base + ring_slot_offset(SLOTS, SLOT_BYTES), none, sizeof none);
    unsigned count = all_records(records, 4);
    assert_true(count >= 2 && count <= 4);
    assert_true(records[count - 1].depth == 1);
  }
  thread_slot_release(second);
}

/* The counters count records, regardless of weight. */
static void a_sample_that_a_mark_leaves_no_room_is_one_lost_record(void **state) {
  (void)state;
  deliver(expiry(thread_slot_token(thread), 0));
  struct ring_slot *slot = (struct ring_slot *)(void *)(reader.base + RING_HEADER_BYTES);
  atomic_store(&slot->tail, atomic_load(&slot->head) - SLOT_BYTES);
  thread_slot_tell(thread, NULL);
  deliver(expiry(thread_slot_token(thread), 6));
  assert_int_equal(look(0).dropped_full, 1);
}

static void a_thread_whose_handler_runs_is_not_told(void **state) {
  (void)state;
  thread->busy = THREAD_SLOT_BUSY;
  assert_false(thread_slot_tell(thread, NULL));
  thread->busy = THREAD_SLOT_IDLE;
  assert_true(thread_slot_tell(thread, NULL));
}

static void nothing_is_taken_while_the_daemon_says_pause(void **state) {
  (void)state;
  ring_switch_set_control(&reader, RING_PAUSE);
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(look(0).pid, 0);
  ring_switch_set_control(&reader, RING_RUN);
  deliver(expiry(thread_slot_token(thread), 0));
  assert_true(look(0).head > 0);
}

static void a_thread_without_a_free_slot_is_counted_once(void **state) {
  (void)state;
  struct thread_slot *more[SLOTS];
  for (unsigned i = 0; i < SLOTS; i++) {
    more[i] = new_thread();
    deliver(expiry(thread_slot_token(more[i]), 0));
  }
  for (unsigned i = 0; i < 3; i++) deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(ring_reader_unsampled(&reader), 1);
  for (unsigned i = 0; i < SLOTS; i++) thread_slot_release(more[i]);
}

static void a_slot_that_the_daemon_took_back_is_claimed_anew(void **state) {
  (void)state;
  deliver(expiry(thread_slot_token(thread), 0));
  ring_reader_free_slot(&reader, 0);
  struct thread_slot *other = new_thread();
  deliver(expiry(thread_slot_token(other), 0));
  uint32_t others = look(0).tid;
  uint64_t head = look(0).head;
  deliver(expiry(thread_slot_token(thread), 0));
  assert_int_equal(look(0).tid, others);
  assert_int_equal(look(0).head, head);
  assert_true(look(1).head > 0);
  thread_slot_release(other);
}

static void what_a_fork_left_in_the_table_is_free_to_the_child(void **state) {
  (void)state;
  struct thread_slot *all[THREAD_SLOTS_MAX];
  unsigned count = 0;
  while (count < THREAD_SLOTS_MAX &&
         (all[count] = thread_slot_claim(ring_owner(PID, 10000 + count))) != NULL)
    count++;
  assert_int_equal(count, THREAD_SLOTS_MAX - 1);
  void *parents = thread_slot_token(all[5]);
  struct thread_slot *childs = thread_slot_claim(ring_owner(PID + 1, 1));
  assert_non_null(childs);
  assert_ptr_equal(thread_slot_find(thread_slot_token(childs)), childs);
  if (childs == all[5]) assert_null(thread_slot_find(parents));
  thread_slot_release(childs);
  for (unsigned i = 0; i < count; i++) thread_slot_release(all[i]);
}

static siginfo_t expiry_of_process(void) {
  siginfo_t event = expiry(NULL, 0);
  event.si_signo = SIGPROF;
  event.si_code = SI_KERNEL;
  return event;
}

static void an_expiry_of_the_process_is_of_the_thread_that_it_met(void **state) {
  (void)state;
  deliver(expiry_of_process());
  assert_int_equal(first_sample(0).weight, 10000);
  assert_int_equal((uint32_t)atomic_load(&thread->owner), look(0).tid);
  assert_int_equal(ring_reader_strayed(&reader), 0);
}

static void an_expiry_in_a_thread_without_a_slot_is_counted(void **state) {
  (void)state;
  atomic_store(&thread->self, arch_thread_pointer() + 8);
  deliver(expiry_of_process());
  atomic_store(&thread->self, arch_thread_pointer());
  thread_slot_release(thread);
  deliver(expiry_of_process());
  assert_int_equal(look(0).head, 0);
  assert_int_equal(ring_reader_strayed(&reader), 2);
  thread = new_thread();
}

static void a_signal_of_the_process_clock_that_somebody_sent_is_let_pass(void **state) {
  (void)state;
  siginfo_t event = expiry_of_process();
  const int codes[] = {SI_USER, SI_TKILL, SI_QUEUE, SI_TIMER};
  for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
    event.si_code = codes[i];
    event.si_value.sival_ptr = thread_slot_token(thread);
    deliver(event);
  }
  assert_int_equal(look(0).head, 0);
  assert_int_equal(ring_reader_strayed(&reader), 0);
}

static void a_paused_process_clock_counts_nothing(void **state) {
  (void)state;
  ring_switch_set_control(&reader, RING_PAUSE);
  deliver(expiry_of_process());
  atomic_store(&thread->self, 0);
  deliver(expiry_of_process());
  assert_int_equal(look(0).head, 0);
  assert_int_equal(ring_reader_strayed(&reader), 0);
}

#define PROCESS(test) cmocka_unit_test_setup_teardown(test, setup_itimer, teardown)
#define SHALLOW(test) cmocka_unit_test_setup_teardown(test, setup_shallow, teardown)
#define CLAIM(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(an_expiry_becomes_a_record_of_its_weight),
      CLAIM(a_negative_overrun_counts_as_none),
      CLAIM(a_signal_that_was_blocked_is_no_sample),
#ifdef __x86_64__
      CLAIM(a_signal_behind_the_call_that_lets_it_through_is_no_sample),
      CLAIM(a_call_that_asks_for_the_mask_before_has_let_nothing_through),
#endif
      CLAIM(a_thread_takes_no_ring_slot_before_its_first_sample),
      CLAIM(a_signal_that_no_timer_made_is_let_pass),
      CLAIM(a_token_that_means_nobody_is_let_pass),
      CLAIM(a_late_signal_of_an_ended_thread_finds_nobody),
      CLAIM(a_signal_inside_the_handler_is_counted),
      CLAIM(a_new_name_is_marked_once_before_the_next_sample),
      CLAIM(a_slot_claimed_after_an_unloading_begins_with_its_number),
      SHALLOW(a_mark_stays_in_its_slot_where_records_are_shorter),
      CLAIM(a_sample_that_a_mark_leaves_no_room_is_one_lost_record),
      CLAIM(a_thread_whose_handler_runs_is_not_told),
      CLAIM(nothing_is_taken_while_the_daemon_says_pause),
      CLAIM(a_thread_without_a_free_slot_is_counted_once),
      CLAIM(a_slot_that_the_daemon_took_back_is_claimed_anew),
      CLAIM(what_a_fork_left_in_the_table_is_free_to_the_child),
      PROCESS(an_expiry_of_the_process_is_of_the_thread_that_it_met),
      PROCESS(an_expiry_in_a_thread_without_a_slot_is_counted),
      PROCESS(a_signal_of_the_process_clock_that_somebody_sent_is_let_pass),
      PROCESS(a_paused_process_clock_counts_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
