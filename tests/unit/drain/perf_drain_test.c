/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's rings, made of ordinary memory: records are written as the kernel lays them out.
   Linked with --wrap=target_read_total, to count. */
#include "drain/drain.h"

#include "intake/perf_attr.h"
#include "intake/perf_regs.h"
#include "proto/limits.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { CPUS = 2, RING_BYTES = 128 << 10, EVENT = 42, PARENT = 0x3ffffff0, CHILD, STRANGER };

struct fake_ring {
  struct perf_event_mmap_page page;
  uint8_t data[RING_BYTES];
};

static struct fake_ring *fakes[CPUS];
static struct perf_rings rings;
static struct targets targets;
static struct target *target;
static struct modules *modules;
static struct processes *processes;
static struct window *window;
static struct drain drain;
static struct counter_page *page;
static char path[64];

/* How often the CPU time of the target was read. */
static unsigned reads;

void __real_target_read_total(struct target *of);
void __wrap_target_read_total(struct target *of);
void __wrap_target_read_total(struct target *of) {
  reads++;
  __real_target_read_total(of);
}

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int make(void **state) {
  (void)state;
  snprintf(path, sizeof path, "/tmp/perf-drain-%d", (int)getpid());
  memset(&rings, 0, sizeof rings);
  memset(&targets, 0, sizeof targets);
  rings.count = CPUS;
  for (int i = 0; i < CPUS; i++) {
    fakes[i] = calloc(1, sizeof *fakes[i]);
    rings.cpus[i] = (struct perf_ring){
        .fd = -1, .cpu = i, .map = fakes[i], .data = fakes[i]->data, .data_bytes = RING_BYTES};
  }
  target = calloc(1, sizeof *target);
  target->held = (struct hold_target){.id = 1, .kind = HOLD_PERF, .pid = PARENT, .service = "test"};
  targets.rows[0] = target;
  targets.count = 1;
  if (table_add(&targets.by_event, EVENT, 0) || modules_new(on_file, NULL, &modules) ||
      processes_new(modules, &processes) || window_new(modules, &window) ||
      counter_page_open(path, 9, &page))
    return -1;
  drain = (struct drain){.page = page,
                         .targets = &targets,
                         .processes = processes,
                         .modules = modules,
                         .window = window,
                         .perf = &rings};
  return drain_init(&drain);
}

static int unmake(void **state) {
  (void)state;
  drain_fini(&drain);
  window_free(window);
  processes_free(processes);
  modules_free(modules);
  counter_page_close(page);
  unlink(path);
  rate_fini(&target->rate);
  free(target);
  table_fini(&targets.by_event);
  for (int i = 0; i < CPUS; i++) free(fakes[i]);
  return 0;
}

struct record {
  uint8_t bytes[512];
  size_t len;
};

static void put_u64(struct record *r, uint64_t value) {
  memcpy(r->bytes + r->len, &value, 8);
  r->len += 8;
}

static void put_pair(struct record *r, uint32_t low, uint32_t high) {
  put_u64(r, (uint64_t)high << 32 | low);
}

/* Appends R to the ring of CPU, around its end if need be. */
static void publish(int cpu, struct record *r, uint32_t type, uint16_t misc) {
  struct perf_event_header header = {type, misc, (uint16_t)r->len};
  memcpy(r->bytes, &header, sizeof header);
  for (size_t i = 0; i < r->len; i++)
    fakes[cpu]->data[(fakes[cpu]->page.data_head + i) % RING_BYTES] = r->bytes[i];
  fakes[cpu]->page.data_head += r->len;
}

static void publish_with_id(int cpu, struct record *r, uint64_t time, uint32_t type,
                            uint16_t misc) {
  put_pair(r, PARENT, PARENT);
  put_u64(r, time);
  put_u64(r, EVENT);
  put_u64(r, EVENT);
  publish(cpu, r, type, misc);
}

static void sample_of(uint64_t stream, int cpu, uint64_t time, uint32_t pid, uint64_t pc) {
  struct record r = {.len = 8};
  put_u64(&r, EVENT);
  put_u64(&r, pc);
  put_pair(&r, pid, pid);
  put_u64(&r, time);
  put_u64(&r, stream);
  put_u64(&r, 1000);
  put_u64(&r, 2);
  put_u64(&r, (uint64_t)PERF_CONTEXT_USER);
  put_u64(&r, pc);
  publish(cpu, &r, PERF_RECORD_SAMPLE, 0);
}

static void sample(int cpu, uint64_t time, uint32_t pid, uint64_t pc) {
  sample_of(EVENT, cpu, time, pid, pc);
}

static void inherited_sample(int cpu, uint64_t time, uint32_t pid, uint64_t pc) {
  sample_of(EVENT + 1, cpu, time, pid, pc);
}

static void mmap2(int cpu, uint64_t time, uint32_t pid, uint64_t start) {
  struct record r = {.len = 8};
  put_pair(&r, pid, pid);
  put_u64(&r, start);
  put_u64(&r, 0x1000);
  put_u64(&r, 0);
  for (int i = 0; i < 4; i++) put_u64(&r, 0);
  memcpy(r.bytes + r.len, "[mapped]", 9);
  r.len += 16;
  publish_with_id(cpu, &r, time, PERF_RECORD_MMAP2, 0);
}

static void fork_record(int cpu, uint64_t time, uint32_t child, uint32_t parent) {
  struct record r = {.len = 8};
  put_pair(&r, child, parent);
  put_pair(&r, child, parent);
  put_u64(&r, time);
  publish_with_id(cpu, &r, time, PERF_RECORD_FORK, 0);
}

static void exit_record(int cpu, uint64_t time, uint32_t pid) {
  struct record r = {.len = 8};
  put_pair(&r, pid, PARENT);
  put_pair(&r, pid, PARENT);
  put_u64(&r, time);
  publish_with_id(cpu, &r, time, PERF_RECORD_EXIT, 0);
}

static void comm(int cpu, uint64_t time, uint32_t pid, uint16_t misc) {
  struct record r = {.len = 8};
  put_pair(&r, pid, pid);
  memcpy(r.bytes + r.len, "renamed", 8);
  r.len += 8;
  publish_with_id(cpu, &r, time, PERF_RECORD_COMM, misc);
}

static void no_rate(void *context, uint32_t id, struct window_told *ret) {
  (void)context, (void)id, (void)ret;
}

static bool has_module(const char *name) {
  struct batch batch;
  assert_int_equal(window_batch(window, no_rate, NULL, &batch), 0);
  for (uint32_t i = 0; i < batch.module_count; i++)
    if (strcmp(batch.modules[i].path, name) == 0) return true;
  return false;
}

static void a_fork_on_one_cpu_comes_before_a_sample_on_another(void **state) {
  (void)state;
  mmap2(1, 10, PARENT, 0x1000);
  fork_record(1, 20, CHILD, PARENT);
  sample(0, 30, CHILD, 0x1800);
  assert_int_equal(drain_run(&drain), 1);
  assert_true(has_module("[mapped]"));
  assert_false(has_module("[unknown]"));
}

/* A pair as the CPU that this runs on has it. */
static void pair_sample(int cpu, uint64_t time, uint64_t pc, uint64_t lr) {
  struct record r = {.len = 8};
  put_u64(&r, EVENT);
  put_u64(&r, pc);
  put_pair(&r, PARENT, PARENT);
  put_u64(&r, time);
  put_u64(&r, EVENT);
  put_u64(&r, 1000);
  put_u64(&r, PERF_SAMPLE_REGS_ABI_64);
  for (uint32_t i = 0; i < perf_regs.count; i++) put_u64(&r, (int)i == perf_regs.lr ? lr : pc);
  if (perf_regs.stack_bytes > 0) {
    put_u64(&r, 8);
    put_u64(&r, lr);
    put_u64(&r, 8);
  }
  publish(cpu, &r, PERF_RECORD_SAMPLE, 0);
}

static void a_pair_is_a_leaf_below_its_link_register_when_that_is_code(void **state) {
  (void)state;
  struct batch batch;
  target->held.collect = RING_PC_LR;
  target->held.content = PERF_CONTENT_PAIR;
  mmap2(0, 10, PARENT, 0x1000);
  pair_sample(0, 20, 0x1800, 0x1400);
  pair_sample(1, 30, 0x1800, 0x7fff0000); /* points into no code */
  assert_int_equal(drain_run(&drain), 2);
  assert_int_equal(window_batch(window, no_rate, NULL, &batch), 0);
  assert_int_equal(batch.sample_count, 2);
  for (unsigned i = 0; i < 2; i++) {
    assert_int_equal(batch.samples[i].type, SAMPLE_CPU_LR);
    bool has_lr = batch.nodes[batch.samples[i].node].parent != BATCH_NONE;
    assert_int_equal(has_lr, i == 0);
  }
}

/* The kernel's part of a stack, then registers of the program and no copy of its stack. */
static void kernel_sample(uint64_t time, uint64_t user_pc) {
  struct record r = {.len = 8};
  put_u64(&r, EVENT);
  put_u64(&r, 0xffffffff81000010);
  put_pair(&r, PARENT, PARENT);
  put_u64(&r, time);
  put_u64(&r, EVENT);
  put_u64(&r, 1000);
  put_u64(&r, 3);
  put_u64(&r, (uint64_t)PERF_CONTEXT_KERNEL);
  put_u64(&r, 0xffffffff81000010);
  put_u64(&r, 0xffffffff81000020);
  put_u64(&r, PERF_SAMPLE_REGS_ABI_64);
  for (uint32_t i = 0; i < perf_walk_regs.count; i++) put_u64(&r, user_pc);
  put_u64(&r, 0);
  publish(0, &r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
}

static void a_sample_in_the_kernel_is_below_the_program(void **state) {
  (void)state;
  struct batch batch;
  target->held.content = PERF_CONTENT_COPY | PERF_CONTENT_KERNEL;
  mmap2(0, 10, PARENT, 0x1000);
  kernel_sample(20, 0x1800);
  assert_int_equal(drain_run(&drain), 1);
  assert_int_equal(window_batch(window, no_rate, NULL, &batch), 0);
  const struct batch_node *leaf = &batch.nodes[batch.samples[0].node];
  assert_string_equal(batch.modules[leaf->module].path, "[kernel]");
  assert_string_equal(batch.modules[batch.nodes[leaf->parent].module].path, "[mapped]");
  assert_int_equal(batch.samples[0].weight, 1000);
  assert_int_equal(target->residual.sampled_ns, 1000);
  assert_int_equal(target->residual.sampled_kernel_ns, 1000);
}

static void in_an_exec_the_kernel_stands_alone(void **state) {
  (void)state;
  struct batch batch;
  target->held.content = PERF_CONTENT_COPY | PERF_CONTENT_KERNEL;
  comm(0, 10, PARENT, PERF_RECORD_MISC_COMM_EXEC);
  mmap2(0, 20, PARENT, 0x1000);
  kernel_sample(30, 0x7fff0000); /* of the program before */
  assert_int_equal(drain_run(&drain), 1);
  assert_int_equal(window_batch(window, no_rate, NULL, &batch), 0);
  assert_int_equal(batch.node_count, 1);
  assert_string_equal(batch.modules[batch.nodes[0].module].path, "[kernel]");
  assert_int_equal(target->stacks_ns[STACK_COMPLETE], 1000);
}

static void an_exec_between_two_samples_parts_them(void **state) {
  (void)state;
  mmap2(0, 10, PARENT, 0x1000);
  sample(1, 20, PARENT, 0x1800);
  comm(0, 30, PARENT, PERF_RECORD_MISC_COMM_EXEC);
  sample(1, 40, PARENT, 0x1900);
  drain_run(&drain);
  assert_true(has_module("[mapped]"));
  assert_true(has_module("[unknown]"));
}

static void a_throttle_is_counted_and_said_once(void **state) {
  (void)state;
  for (uint64_t time = 10; time < 13; time++) {
    struct record r = {.len = 8};
    put_u64(&r, time);
    put_u64(&r, EVENT);
    put_u64(&r, EVENT);
    publish_with_id(0, &r, time, PERF_RECORD_THROTTLE, 0);
  }
  drain_run(&drain);
  assert_int_equal(target->rate.throttled, 3);
  assert_string_equal(rate_reason(target), "throttled");
  const char *said = strstr(target->held.why, "the kernel throttles it");
  assert_non_null(said);
  assert_null(strstr(said + 1, "the kernel throttles it"));
}

static void samples_of_a_thread_that_is_too_fast_are_thinned_and_not_booked(void **state) {
  (void)state;
  target->held.period_ns = 1000;
  target->held.set_period_ns = 10000;
  mmap2(0, 1, PARENT, 0x1000);
  for (unsigned i = 0; i < 1000; i++) inherited_sample(0, 10 + i, PARENT, 0x1000 + i % 100);
  uint64_t taken = drain_run(&drain);
  assert_true(taken >= 80 && taken <= 101);
  assert_int_equal(counter_page_books(page)->produced, taken);
  assert_int_equal(taken + target->rate.thinned, 1000);
  assert_true(target->residual.sampled_ns >= 990000 && target->residual.sampled_ns <= 1010000);
}

static void everything_is_taken_booked_and_given_back(void **state) {
  (void)state;
  mmap2(0, 1, PARENT, 0x1000);
  for (unsigned i = 0; i < 1500; i++) sample((int)(i % 2), 10 + i, PARENT, 0x1000 + i % 100);
  assert_int_equal(drain_run(&drain), 1500);
  assert_int_equal(window_records(window), 1500);
  assert_int_equal(counter_page_books(page)->produced, 1500);
  for (int i = 0; i < CPUS; i++)
    assert_int_equal(fakes[i]->page.data_tail, fakes[i]->page.data_head);
  assert_int_equal(target->residual.sampled_ns, 1500 * 1000);
  assert_int_equal(drain_run(&drain), 0);
}

static void records_that_wrap_around_the_end_are_whole(void **state) {
  (void)state;
  fakes[0]->page.data_head = fakes[0]->page.data_tail = 5 * RING_BYTES - 40;
  sample(0, 10, PARENT, 0x1800);
  sample(0, 20, PARENT, 0x1900);
  assert_int_equal(drain_run(&drain), 2);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], 0);
}

static void lost_records_are_produced_and_dropped(void **state) {
  (void)state;
  struct record r = {.len = 8};
  put_u64(&r, EVENT);
  put_u64(&r, 17);
  publish_with_id(0, &r, 10, PERF_RECORD_LOST, 0);
  drain_run(&drain);
  assert_int_equal(counter_page_books(page)->produced, 17);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_RING_FULL], 17);
}

/* A program that maps and unmaps loses records by the hundred thousand, and next to no sample. */
static void no_more_samples_are_lost_than_there_was_time_for(void **state) {
  struct target other = {.held = {.kind = HOLD_PERF, .period_ns = 1000}, .threads.is_wide = true};
  struct record r = {.len = 8};
  (void)state;
  target->held.period_ns = 1000;
  mmap2(0, 10, PARENT, 0x1000);
  put_u64(&r, EVENT);
  put_u64(&r, 347584);
  publish_with_id(0, &r, 10 + 100 * target->held.period_ns, PERF_RECORD_LOST, 0);
  drain_run(&drain);
  assert_in_range(counter_page_books(page)->produced, 100, 130);
  assert_in_range(counter_page_books(page)->dropped[LOSS_RING_FULL], 100, 130);
  targets.rows[1] = &other; /* the CPU's clock event continues beside the program's */
  r.len = 24;
  publish_with_id(0, &r, 10 + 200 * target->held.period_ns, PERF_RECORD_LOST, 0);
  drain_run(&drain);
  targets.rows[1] = NULL;
  assert_in_range(counter_page_books(page)->produced, 300, 390);
}

static void a_sample_of_nobodys_event_is_a_bad_record(void **state) {
  (void)state;
  sample(0, 10, PARENT, 0x1800);
  fakes[0]->data[8] = 99; /* the identifier */
  drain_run(&drain);
  assert_int_equal(counter_page_books(page)->produced, 1);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], 1);
}

/* Gives the newest sample of CPU 0 the unknown event id 99. */
static void orphan(uint64_t at) {
  fakes[0]->data[at + 8] = 99;
}

static void a_sample_of_an_event_that_is_no_more_is_its_processs(void **state) {
  (void)state;
  mmap2(1, 5, PARENT, 0x1000);
  sample(0, 10, PARENT, 0x1800);
  orphan(0);
  assert_int_equal(drain_run(&drain), 1);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], 0);
  assert_int_equal(window_records(window), 1);
  assert_int_equal(target->residual.sampled_ns, 1000);
}

/* Makes the target's event system-wide, with a known program. */
static void widen(void) {
  assert_non_null(processes_get(processes, PARENT, 1, -1));
  target->threads.is_wide = targets.has_been_wide = true;
  target->threads.count = 1;
}

static void narrow(void) {
  target->threads.is_wide = false;
  target->threads.count = 0;
}

static void child_lives_and_dies(uint64_t time) {
  fork_record(0, time + 1, CHILD, PARENT);
  sample(0, time + 2, CHILD, 0x1800);
  exit_record(0, time + 3, CHILD);
  sample(0, time + 4, CHILD, 0x1800); /* its address space is torn down */
}

static void a_strangers_process_is_not_taken_for_an_ended_one_of_its_number(void **state) {
  (void)state;
  target->residual.total_ns = 1000000;
  widen();
  child_lives_and_dies(10);
  drain_run(&drain);
  assert_int_equal(target->records, 2);
  sample(0, 20, CHILD, 0x1800);
  drain_run(&drain);
  assert_int_equal(target->rate.foreign, 1);
  child_lives_and_dies(30);
  fork_record(0, 40, CHILD, STRANGER);
  sample(0, 41, CHILD, 0x1800);
  drain_run(&drain);
  assert_int_equal(target->records, 4);
  assert_int_equal(target->rate.foreign, 2);
  assert_null(processes_find(processes, CHILD));
  child_lives_and_dies(50);
  drain_run(&drain);
  comm(0, 60, CHILD, PERF_RECORD_MISC_COMM_EXEC); /* its fork was lost */
  drain_run(&drain);
  assert_int_equal(target->records, 6);
  assert_null(processes_find(processes, CHILD));
  child_lives_and_dies(70);
  drain_run(&drain);
  narrow();
  uint64_t at = fakes[0]->page.data_head;
  sample(0, 80, CHILD, 0x1800);
  orphan(at); /* of the closed event */
  drain_run(&drain);
  assert_int_equal(target->records, 8);
}

static void samples_of_nobody_are_forgiven_until_a_closed_event_has_left_nothing(void **state) {
  (void)state;
  widen();
  drain_run(&drain);
  assert_true(targets.has_been_wide);
  narrow();
  for (unsigned i = 0; i < 2; i++) {
    uint64_t at = fakes[0]->page.data_head;
    sample(0, 10 + i, CHILD, 0x1800);
    orphan(at);
    drain_run(&drain);
    assert_false(targets.has_been_wide);
    assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], i);
  }
}

static void the_total_is_read_once_however_many_samples_are_too_much(void **state) {
  (void)state;
  widen();
  for (unsigned i = 0; i < 50; i++) sample(0, 10 + i, PARENT, 0x1800);
  reads = 0;
  drain_run(&drain);
  assert_int_equal(target->rate.thinned, 50);
  assert_int_equal(reads, 1);
  sample(0, 100, PARENT, 0x1800);
  drain_run(&drain);
  assert_int_equal(reads, 2);
  narrow();
}

static void a_new_worker_finds_the_target_of_such_a_sample_by_its_parents(void **state) {
  (void)state;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  target->held.pid = getpid();
  target->held.is_apart = target->is_restored = true;
  sample(0, 10, (uint32_t)child, 0x1800);
  orphan(0);
  drain_run(&drain);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  assert_int_equal(counter_page_books(page)->dropped[LOSS_BAD_RECORD], 0);
  assert_int_equal(target->records, 1);
}

static void what_nobody_owns_after_a_kill_was_lost_with_the_worker(void **state) {
  (void)state;
  target->held.is_apart = target->is_restored = true;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t at = fakes[0]->page.data_head;
    sample(0, 10 + i, CHILD, 0x1800); /* a process that has long ended */
    orphan(at);
    drain_run(&drain); /* the first drain empties the dead worker's rings */
  }
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->dropped[LOSS_WORKER_KILLED], 1);
  assert_int_equal(books->dropped[LOSS_BAD_RECORD], 2);
}

static void a_broken_record_costs_what_follows_it_in_its_ring_only(void **state) {
  (void)state;
  sample(0, 10, PARENT, 0x1800);
  struct record r = {.len = 16};
  publish(0, &r, 1, 0);
  fakes[0]->data[fakes[0]->page.data_head - 16 + 6] = 3; /* its size */
  sample(0, 30, PARENT, 0x1800);
  sample(1, 40, PARENT, 0x1800);
  drain_run(&drain);
  drain_run(&drain);
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->dropped[LOSS_BAD_RECORD], 1);
  assert_int_equal(window_records(window), 2);
  assert_int_equal(fakes[0]->page.data_tail, fakes[0]->page.data_head);
}

static void times_that_run_backwards_do_not_stop_the_drain(void **state) {
  (void)state;
  for (unsigned i = 0; i < 1500; i++) sample(0, 100000 - i, PARENT, 0x1000);
  assert_int_equal(drain_run(&drain), 1500);
}

static void a_samples_weight_that_the_window_refused_stays_in_the_rest(void **state) {
  (void)state;
  for (unsigned i = 0; i < WINDOW_THREADS_MAX + 10; i++) {
    struct process *process = processes_get(processes, PARENT, 1, -1);
    char name[PROC_COMM_BYTES];
    snprintf(name, sizeof name, "t%u", i);
    process_name_thread(process, PARENT, name);
    sample(0, 10 + i, PARENT, 0x1000);
    drain_run(&drain);
  }
  const struct counters *books = counter_page_books(page);
  assert_int_equal(books->dropped[LOSS_WINDOW_FULL], 10);
  assert_int_equal(target->residual.sampled_ns, WINDOW_THREADS_MAX * 1000);
  assert_int_equal(counters_open(books), window_records(window));
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(a_fork_on_one_cpu_comes_before_a_sample_on_another),
      TEST(a_pair_is_a_leaf_below_its_link_register_when_that_is_code),
      TEST(a_sample_in_the_kernel_is_below_the_program),
      TEST(in_an_exec_the_kernel_stands_alone),
      TEST(an_exec_between_two_samples_parts_them),
      TEST(a_throttle_is_counted_and_said_once),
      TEST(samples_of_a_thread_that_is_too_fast_are_thinned_and_not_booked),
      TEST(everything_is_taken_booked_and_given_back),
      TEST(records_that_wrap_around_the_end_are_whole),
      TEST(lost_records_are_produced_and_dropped),
      TEST(no_more_samples_are_lost_than_there_was_time_for),
      TEST(a_sample_of_nobodys_event_is_a_bad_record),
      TEST(a_sample_of_an_event_that_is_no_more_is_its_processs),
      TEST(a_strangers_process_is_not_taken_for_an_ended_one_of_its_number),
      TEST(samples_of_nobody_are_forgiven_until_a_closed_event_has_left_nothing),
      TEST(the_total_is_read_once_however_many_samples_are_too_much),
      TEST(a_new_worker_finds_the_target_of_such_a_sample_by_its_parents),
      TEST(what_nobody_owns_after_a_kill_was_lost_with_the_worker),
      TEST(a_broken_record_costs_what_follows_it_in_its_ring_only),
      TEST(times_that_run_backwards_do_not_stop_the_drain),
      TEST(a_samples_weight_that_the_window_refused_stays_in_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
