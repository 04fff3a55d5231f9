/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/process_maps.h"
#include "targets/processes.h"

#include "common/clock.h"
#include "proto/batch.h"
#include "proto/limits.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 1, NOBODY = 0x3ffffff0 /* above every pid_max */ };

static struct modules *modules;
static struct processes *processes;
static unsigned files_seen;
static char last_open_path[LIMIT_PATH_BYTES + 32];

static void on_file(void *context, const struct module_found *found) {
  struct stat status;
  (void)context;
  assert_true(found->id.len > 0);
  assert_int_equal(found->path[0], '/');
  assert_int_equal(stat(found->open_path, &status), 0);
  snprintf(last_open_path, sizeof last_open_path, "%s", found->open_path);
  files_seen++;
}

static int make(void **state) {
  (void)state;
  files_seen = 0;
  return modules_new(on_file, NULL, &modules) || processes_new(modules, &processes);
}

static int unmake(void **state) {
  (void)state;
  processes_free(processes);
  modules_free(modules);
  return 0;
}

static void map(struct process *process, uint64_t start, uint64_t end, const char *path) {
  struct process_map added = {.start = start, .end = end, .file_offset = 0};
  struct module_file file = {span_of_string(path), 0, 0};
  process_map_add(processes, process, &added, &file);
}

static const char *path_of(uint32_t module) {
  struct batch_module described;
  modules_describe(modules, module, &described);
  return described.path;
}

static void our_own_code_is_found_by_address(void **state) {
  (void)state;
  struct process *self = processes_get(processes, getpid(), TARGET, -1);
  struct code_frame frame;
  struct batch_module module;
  uint64_t pc = (uint64_t)(uintptr_t)&our_own_code_is_found_by_address;
  assert_non_null(self);
  assert_true(process_has_code(self, pc));
  assert_int_equal(process_resolve(processes, self, &pc, 1, &frame), 1);
  modules_describe(modules, frame.module, &module);
  assert_int_equal(module.kind, MODULE_ELF);
  assert_true(module.id.len > 0);
  assert_string_equal(module.path, self->exe);
  assert_true(frame.address < module.size_bytes + (1 << 20));
  assert_int_equal(files_seen, 1);
  /* Once known, a file is not read again. */
  process_resolve(processes, self, &pc, 1, &frame);
  assert_int_equal(files_seen, 1);
}

/* Files are read through the process that sent the packet: the previous process may have ended, and
   its /proc path with it. */
static void the_way_to_a_file_is_by_the_process_that_was_met_last(void **state) {
  (void)state;
  char expected[32];
  struct code_frame frame;
  uint64_t pc = (uint64_t)(uintptr_t)&the_way_to_a_file_is_by_the_process_that_was_met_last;
  struct process *self = processes_get(processes, getpid(), TARGET, -1);
  assert_int_equal(process_resolve(processes, self, &pc, 1, &frame), 1);
  uint32_t module = frame.module;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  struct process *other = processes_get(processes, child, TARGET, -1);
  assert_int_equal(process_resolve(processes, other, &pc, 1, &frame), 1);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  assert_int_equal(frame.module, module);
  assert_int_equal(files_seen, 2);
  snprintf(expected, sizeof expected, "/proc/%d/root/", (int)child);
  assert_memory_equal(last_open_path, expected, strlen(expected));
}

static void two_targets_that_claim_one_process_do_not_have_it_read_each_time(void **state) {
  (void)state;
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  uint64_t read_ns = process->read_ns;
  process->time.sampled_ns = 5;
  process->shared_serial = process->maps_serial;
  process = processes_get(processes, getpid(), TARGET + 1, -1);
  assert_int_equal(process->target, TARGET + 1);
  assert_int_equal(process->read_ns, read_ns);
  assert_true(process->map_count > 0);
  /* The account is the new target's, whose handlers have no counts yet. */
  assert_int_equal(process->time.sampled_ns, 0);
  assert_true(process->shared_serial != process->maps_serial);
  process->read_ns -= 2 * NS_PER_SECOND;
  process = processes_get(processes, getpid(), TARGET, -1);
  assert_true(process->read_ns > read_ns);
}

static void mappings_that_change_without_end_are_read_once_a_second(void **state) {
  (void)state;
  enum { MANY = 32 };
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  uint64_t first_ns = process->refresh_ns;
  assert_false(process_refresh(processes, process, -1));
  for (unsigned i = 0; i < MANY; i++) {
    process->read_ns -= 2 * NS_PER_SECOND;
    map(process, 0x1000, 0x2000, "[gone by the next reading]");
    assert_true(process_refresh(processes, process, -1));
    if (i == 0) assert_int_equal(process->refresh_ns, first_ns);
  }
  assert_true(first_ns < NS_PER_SECOND);
  assert_int_equal(process->refresh_ns, NS_PER_SECOND);
}

static void a_stack_ends_at_the_first_caller_outside_of_code(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frames[4];
  map(process, 0x1000, 0x2000, "[vdso]");
  const uint64_t good[] = {0x1500, 0x1600, 0x1700}, bad[] = {0x1500, 0x7777, 0x1700};
  assert_int_equal(process_resolve(processes, process, good, 3, frames), 3);
  assert_int_equal(process_resolve(processes, process, bad, 3, frames), 1);
}

static void a_return_address_right_after_a_mapping_belongs_to_it(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frames[2];
  map(process, 0x1000, 0x2000, "[a]");
  map(process, 0x2000, 0x3000, "[b]");
  const uint64_t pcs[] = {0x2000, 0x2000};
  assert_int_equal(process_resolve(processes, process, pcs, 2, frames), 2);
  assert_string_equal(path_of(frames[0].module), "[b]");
  assert_string_equal(path_of(frames[1].module), "[a]");
}

static void a_leaf_in_no_mapping_is_kept(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frame;
  uint64_t pc = 0x5000;
  process_resolve(processes, process, &pc, 1, &frame);
  assert_int_equal(frame.module, MODULE_UNKNOWN);
  map(process, 0x1000, 0x2000, "[a]");
  process_resolve(processes, process, &pc, 1, &frame);
  assert_int_equal(frame.module, MODULE_ANON);
}

static void a_new_mapping_replaces_what_it_covers(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frame;
  map(process, 0x1000, 0x5000, "[old]");
  map(process, 0x6000, 0x7000, "[far]");
  map(process, 0x2000, 0x6800, "[new]");
  const struct {
    uint64_t pc;
    const char *path;
  } expected[] = {{0x1800, "[old]"}, {0x2000, "[new]"}, {0x67ff, "[new]"}, {0x6800, "[far]"}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    process_resolve(processes, process, &expected[i].pc, 1, &frame);
    assert_string_equal(path_of(frame.module), expected[i].path);
  }
  assert_int_equal(process->map_count, 3);
}

static void more_mappings_than_the_limit_are_left_out(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  for (uint64_t i = 0; i < PROCESS_MAPS_MAX + 100; i++)
    map(process, 0x1000 * i + 0x1000, 0x1000 * i + 0x1800, "[x]");
  assert_int_equal(process->map_count, PROCESS_MAPS_MAX);
}

static void a_fork_inherits_and_an_exec_begins_anew(void **state) {
  (void)state;
  struct process *parent = processes_get(processes, NOBODY, TARGET, -1);
  process_exec(parent, "first");
  map(parent, 0x1000, 0x2000, "/no/such/first");
  map(parent, 0x3000, 0x4000, "/no/such/loader");
  assert_string_equal(parent->exe, "/no/such/first");
  struct process *child = processes_fork(processes, parent, NOBODY + 1);
  assert_non_null(child);
  assert_true(process_has_code(child, 0x3800));
  assert_string_equal(child->exe, "/no/such/first");
  assert_string_equal(process_thread_name(child, NOBODY + 1, NULL), "first");
  process_exec(child, "second");
  assert_false(process_has_code(child, 0x3800));
  assert_null(child->exe);
  map(child, 0x9000, 0xa000, "/no/such/second");
  assert_string_equal(child->exe, "/no/such/second");
  assert_true(process_has_code(parent, 0x3800));
}

static void a_file_that_is_gone_is_known_by_its_path_only(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frame;
  struct batch_module module;
  uint64_t pc = 0x1500;
  map(process, 0x1000, 0x2000, "/no/such/file");
  process_resolve(processes, process, &pc, 1, &frame);
  modules_describe(modules, frame.module, &module);
  assert_int_equal(module.kind, MODULE_PSEUDO);
  assert_string_equal(module.path, "/no/such/file");
  assert_int_equal(frame.address, 0);
}

static void another_file_under_the_same_name_is_not_taken_for_it(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  struct code_frame frame;
  struct batch_module module;
  struct process_map added = {.start = 0x1000, .end = 0x2000};
  struct module_file file = {span_of_string("/proc/self/exe"), 1, 0}; /* no such inode there */
  uint64_t pc = 0x1500;
  process_map_add(processes, process, &added, &file);
  process_resolve(processes, process, &pc, 1, &frame);
  modules_describe(modules, frame.module, &module);
  assert_int_equal(module.kind, MODULE_PSEUDO);
}

static void threads_keep_their_names(void **state) {
  (void)state;
  struct process *self = processes_get(processes, getpid(), TARGET, -1);
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  assert_string_equal(process_thread_name(self, getpid(), NULL), name);
  process_name_thread(self, NOBODY, "worker-with-a-long-name");
  assert_string_equal(process_thread_name(self, NOBODY, NULL), "worker-with-a-l");
  assert_string_equal(process_thread_name(self, NOBODY + 1, "slot"), "slot");
  assert_string_equal(process_thread_name(self, NOBODY + 2, NULL), name);
}

static void a_childs_system_time_is_summed_up_with_its_target(void **state) {
  (void)state;
  struct processes_sum sum;
  pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  processes_get(processes, getpid(), TARGET, -1);
  processes_get(processes, child, TARGET, -1);
  processes_get(processes, getppid(), TARGET + 1, -1);
  processes_sum_target(processes, TARGET, &sum);
  assert_int_equal(sum.processes, 2);
  assert_true(sum.threads >= 2);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  processes_sum_target(processes, TARGET, &sum);
  assert_int_equal(sum.processes, 1);
}

static void what_has_ended_is_swept_but_not_a_targets_root(void **state) {
  (void)state;
  processes_get(processes, NOBODY, TARGET, -1)->has_ended = true;
  struct process *root = processes_get(processes, NOBODY + 1, TARGET, -1);
  root->has_ended = root->is_root = true;
  processes_get(processes, NOBODY + 2, TARGET, -1);
  processes_sweep(processes);
  assert_null(processes_find(processes, NOBODY));
  assert_non_null(processes_find(processes, NOBODY + 1));
  assert_non_null(processes_find(processes, NOBODY + 2));
  processes_forget_target(processes, TARGET);
  assert_null(processes_find(processes, NOBODY + 1));
}

static void swept_modules_make_room_and_used_ones_stay(void **state) {
  (void)state;
  struct process *process = processes_get(processes, NOBODY, TARGET, -1);
  char path[32];
  map(process, 0x1000, 0x2000, "[kept]");
  for (unsigned i = 0; !modules_is_full(modules) && i < MODULES_MAX; i++) {
    snprintf(path, sizeof path, "/file/%u", i);
    modules_intern(modules, &(struct module_file){span_of_string(path), i, 0});
  }
  assert_true(modules_is_full(modules));
  modules_unmark(modules);
  processes_sweep(processes);
  modules_sweep(modules);
  assert_false(modules_is_full(modules));
  uint32_t kept = process->maps[0].module;
  assert_string_equal(path_of(kept), "[kept]");
  assert_int_equal(modules_intern(modules, &(struct module_file){span_of_string("[kept]"), 0, 0}),
                   kept);
  assert_string_equal(path_of(MODULE_KERNEL), "[kernel]");
}

static void a_full_table_of_processes_refuses_one_more(void **state) {
  (void)state;
  for (int i = 0; i < PROCESSES_MAX; i++)
    assert_non_null(processes_get(processes, NOBODY + i, TARGET, -1));
  assert_null(processes_get(processes, NOBODY + PROCESSES_MAX, TARGET, -1));
  processes_find(processes, NOBODY)->has_ended = true;
  assert_non_null(processes_get(processes, NOBODY + PROCESSES_MAX, TARGET, -1));
}

static void a_line_of_stat_with_an_evil_name_is_read_right(void **state) {
  (void)state;
  const char *text = "77 (a) S 9) R 5 1 1 0 -1 4194304 1 2 3 4 10 20 30 40 20 0 6 0 12345 1 2\n";
  struct proc_stat stat;
  assert_int_equal(proc_stat_parse(span_of_string(text), &stat), 0);
  assert_int_equal(stat.state, 'R');
  assert_int_equal(stat.parent, 5);
  assert_int_equal(stat.system_ticks, 20 + 40);
  assert_int_equal(stat.threads, 6);
  assert_int_equal(stat.start_ticks, 12345);
  assert_int_not_equal(proc_stat_parse(span_of_string("77 (a) S 1 2"), &stat), 0);
  assert_int_not_equal(proc_stat_parse(span_of_string(""), &stat), 0);
}

static void an_ended_process_waits_one_sweep_for_its_last_word(void **state) {
  (void)state;
  struct process *root = processes_get(processes, getpid(), TARGET, -1);
  struct process *child = processes_fork(processes, root, NOBODY);
  child->has_ended = child->is_awaited = true;
  processes_sweep(processes);
  assert_non_null(processes_find(processes, NOBODY));
  processes_sweep(processes);
  assert_null(processes_find(processes, NOBODY));
}

static void a_crowd_of_ended_processes_is_noticed_and_forgotten(void **state) {
  (void)state;
  struct process *root = processes_get(processes, getpid(), TARGET, -1);
  for (int i = 0; i < PROCESSES_CROWDED; i++)
    assert_non_null(processes_fork(processes, root, NOBODY + i));
  assert_false(processes_is_crowded(processes));
  for (int i = 0; i < PROCESSES_CROWDED; i++)
    processes_find(processes, NOBODY + i)->has_ended = true;
  assert_true(processes_is_crowded(processes));
  processes_remove_ended(processes);
  assert_false(processes_is_crowded(processes));
  assert_non_null(processes_find(processes, getpid()));
}

static void *wait_for_end(void *unused) {
  prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends the child if the test fails */
  for (;;) pause();
  return unused;
}

/* Returns a child whose main thread has ended and whose other thread waits. */
/* Its parent is billed for it from then on, and its record may be late. */
static void a_process_that_has_ended_has_a_clock_until_it_is_waited_for(void **state) {
  (void)state;
  struct processes_sum sum;
  siginfo_t ended;
  pid_t child = fork();
  if (child == 0) {
    while (proc_cpu_ns(getpid()) < 20 * NS_PER_MS) continue;
    _exit(0);
  }
  struct process *process = processes_get(processes, child, TARGET, -1);
  assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
  process->has_ended = true;
  processes_sum_target(processes, TARGET, &sum);
  assert_true(sum.zombie_ns >= 20 * NS_PER_MS);
  assert_int_equal(sum.clock_ns, 0);
  process->is_awaited = true;
  processes_sum_target(processes, TARGET, &sum);
  assert_true(sum.clock_ns >= 20 * NS_PER_MS);
  assert_false(sum.is_partial);
  waitpid(child, NULL, 0);
  processes_sum_target(processes, TARGET, &sum);
  assert_true(sum.is_partial);
  process->is_awaited = false;
  processes_sum_target(processes, TARGET, &sum);
  assert_int_equal(sum.zombie_ns + sum.clock_ns, 0);
  assert_false(sum.is_partial);
  assert_true(process->is_reaped);
}

static pid_t fork_without_main_thread(void) {
  struct proc_stat stat = {.state = '?'};
  pthread_t thread;
  pid_t child = fork();
  if (child == 0) {
    if (pthread_create(&thread, NULL, wait_for_end, NULL) != 0) _exit(1);
    pthread_exit(NULL);
  }
  for (unsigned i = 0; i < 1000 && stat.state != 'Z'; i++) {
    usleep(10000);
    assert_int_equal(proc_stat_read(child, &stat), 0);
  }
  assert_int_equal(stat.state, 'Z');
  return child;
}

static void a_process_goes_on_while_a_thread_outlives_the_main_one(void **state) {
  (void)state;
  pid_t child = fork_without_main_thread();
  struct process *process = processes_get(processes, child, TARGET, -1);
  process->has_ended = true; /* as the kernel's record of the main thread reports */
  processes_mark_over(processes);
  processes_sweep(processes);
  assert_ptr_equal(processes_find(processes, child), process);
  assert_false(process->is_over);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  processes_mark_over(processes);
  assert_true(process->is_over);
  processes_sweep(processes);
  assert_null(processes_find(processes, child));
}

static void what_a_process_spent_before_it_was_known_is_not_its_own(void **state) {
  (void)state;
  for (volatile uint64_t i = 0; i < 100000000; i++) continue;
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  assert_true(process->time.cpu_ns > 0);
  assert_int_equal(process->time.billed_ns, process->time.cpu_ns);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(a_process_that_has_ended_has_a_clock_until_it_is_waited_for),
      TEST(our_own_code_is_found_by_address),
      TEST(the_way_to_a_file_is_by_the_process_that_was_met_last),
      TEST(two_targets_that_claim_one_process_do_not_have_it_read_each_time),
      TEST(mappings_that_change_without_end_are_read_once_a_second),
      TEST(a_stack_ends_at_the_first_caller_outside_of_code),
      TEST(a_return_address_right_after_a_mapping_belongs_to_it),
      TEST(a_leaf_in_no_mapping_is_kept),
      TEST(a_new_mapping_replaces_what_it_covers),
      TEST(more_mappings_than_the_limit_are_left_out),
      TEST(a_fork_inherits_and_an_exec_begins_anew),
      TEST(a_file_that_is_gone_is_known_by_its_path_only),
      TEST(another_file_under_the_same_name_is_not_taken_for_it),
      TEST(threads_keep_their_names),
      TEST(a_childs_system_time_is_summed_up_with_its_target),
      TEST(what_has_ended_is_swept_but_not_a_targets_root),
      TEST(an_ended_process_waits_one_sweep_for_its_last_word),
      TEST(a_crowd_of_ended_processes_is_noticed_and_forgotten),
      TEST(a_process_goes_on_while_a_thread_outlives_the_main_one),
      TEST(what_a_process_spent_before_it_was_known_is_not_its_own),
      TEST(swept_modules_make_room_and_used_ones_stay),
      TEST(a_full_table_of_processes_refuses_one_more),
      TEST(a_line_of_stat_with_an_evil_name_is_read_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
