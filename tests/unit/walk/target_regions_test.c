/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers' regions while this process, the target, maps and unmaps code and forks. */
#include "table_fixture.h"
#include "walk/target_regions.h"

#include "proc/proc_stat.h"
#include "ring/ring_format.h"
#include "targets/process_maps.h"
#include "targets/region_map.h"
#include "targets/timer_ring.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 1, OTHER_TARGET, PATIENCE_MS = 20000, LIBRARY_BYTES = 4096 };

static struct modules *modules;
static struct table_memory memory;
static struct table_share share;
static struct process_codes codes;
static struct target_regions_parts parts;
static struct target *target;

static enum table_state build(const struct table_wanted *wanted, struct buf *ret, char *why) {
  (void)wanted, (void)why;
  fixture_table(16, ret);
  return TABLE_READY;
}

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static struct target *make_target(uint32_t id, pid_t pid) {
  struct proc_stat stat;
  struct hold_target held = {.kind = HOLD_TIMER,
                             .id = id,
                             .pid = pid,
                             .uid = getuid(),
                             .fd_count = 1,
                             .region_fd_count = 1,
                             .asked_mhz = 100000,
                             .period_ns = 10000000};
  if (proc_stat_read(held.pid, &stat) != 0) return NULL;
  held.start_ticks = stat.start_ticks;
  timer_ring_size(&held, 0);
  int fds[2] = {timer_ring_make(&held), region_map_make(true)};
  return fds[0] >= 0 && fds[1] >= 0 ? target_new(&held, fds) : NULL;
}

static int make(void **state) {
  (void)state;
  if (modules_new(on_file, NULL, &modules) || processes_new(modules, &parts.processes)) return -1;
  if (table_store_new(NULL, build, &parts.store) || table_memory_open(&memory)) return -1;
  table_share_open(&share, &memory);
  process_codes_init(&codes, modules, parts.store);
  parts.modules = modules;
  parts.codes = &codes;
  parts.share = &share;
  target = make_target(TARGET, getpid());
  return target != NULL && target->regions.map != NULL ? 0 : -1;
}

static int unmake(void **state) {
  (void)state;
  target_free(target, true);
  process_codes_fini(&codes);
  table_share_close(&share);
  table_memory_close(&memory);
  table_store_free(parts.store);
  processes_free(parts.processes);
  modules_free(modules);
  return 0;
}

/* Steps until no work is left for OF. */
static void step_target(struct target *of) {
  bool is_busy = true;
  for (int ms = 0; ms < PATIENCE_MS && is_busy; ms++) {
    target_regions_step(&parts, of);
    table_store_step(parts.store);
    is_busy = of->regions.is_due || table_store_is_busy(parts.store) ||
              of->regions.tables_serial != table_store_serial(parts.store);
    if (is_busy) usleep(1000);
  }
  assert_false(is_busy);
}

static void step(void) {
  step_target(target);
}

/* A sample was taken where no mapping is known. */
static void sample(void) {
  struct process *self = processes_find(parts.processes, getpid());
  assert_non_null(self);
  process_read_maps(parts.processes, self, -1, ring_reader_unloads(&target->ring));
  target->regions.is_due = true;
}

static const struct unwind_region *find_in(const struct target *of, enum unwind_map_list list,
                                           const void *code) {
  const struct unwind_map *map = of->regions.map;
  uint64_t pc = (uint64_t)(uintptr_t)code;
  for (uint32_t i = 0; i < map->counts[list]; i++)
    if (pc >= map->regions[list][i].start && pc < map->regions[list][i].end)
      return &map->regions[list][i];
  return NULL;
}

static const struct unwind_region *find(enum unwind_map_list list, const void *code) {
  return find_in(target, list, code);
}

/* Code of a file, where nothing was. */
static void *load(void) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  void *library = mmap(NULL, LIBRARY_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
  assert_ptr_not_equal(library, MAP_FAILED);
  close(fd);
  return library;
}

static void unload(void *library) {
  struct ring_header *header = (struct ring_header *)(void *)target->ring.base;
  atomic_fetch_add(&header->unloads, 1);
  if (library != NULL) munmap(library, LIBRARY_BYTES);
}

/* A child listed in the ring; it has this process's present mappings. */
static pid_t begin_child(void) {
  struct ring_header *header = (struct ring_header *)(void *)target->ring.base;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  assert_true(child > 0);
  atomic_store(&header->processes[1].who, (uint64_t)child << 32);
  return child;
}

static void end_child(pid_t child) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static void a_program_is_let_begin_when_its_tables_are_there(void **state) {
  (void)state;
  target_regions_step(&parts, target);
  const struct unwind_region *own = find(UNWIND_MAP_ALL, (void *)(uintptr_t)&step);
  bool has_table = own != NULL && own->table != UNWIND_NO_TABLE;
  assert_int_equal(atomic_load(&target->regions.map->is_awaited), !has_table);
  step();
  assert_int_equal(atomic_load(&target->regions.map->is_awaited), 0);
}

static void what_a_program_began_with_is_steady(void **state) {
  (void)state;
  step();
  const struct unwind_region *own = find(UNWIND_MAP_STEADY, (void *)(uintptr_t)&step);
  assert_non_null(own);
  assert_int_not_equal(own->table, UNWIND_NO_TABLE);
  assert_non_null(find(UNWIND_MAP_ALL, (void *)(uintptr_t)&step));
  assert_true(own->table < memory.bytes);
}

static void what_comes_late_is_there_but_not_steady(void **state) {
  (void)state;
  step();
  void *library = load();
  sample();
  step();
  const struct unwind_region *late = find(UNWIND_MAP_ALL, library);
  assert_non_null(late);
  assert_int_not_equal(late->table, UNWIND_NO_TABLE);
  assert_null(find(UNWIND_MAP_STEADY, library));
  assert_non_null(find(UNWIND_MAP_STEADY, (void *)(uintptr_t)&step));
  munmap(library, LIBRARY_BYTES);
}

static void what_was_unloaded_is_in_no_map_that_says_so(void **state) {
  (void)state;
  step();
  void *library = load();
  sample();
  step();
  assert_non_null(find(UNWIND_MAP_ALL, library));
  unload(library);
  assert_int_not_equal(target->regions.map->unloads, ring_reader_unloads(&target->ring));
  step();
  assert_int_equal(target->regions.map->unloads, ring_reader_unloads(&target->ring));
  assert_null(find(UNWIND_MAP_ALL, library));
  assert_non_null(find(UNWIND_MAP_STEADY, (void *)(uintptr_t)&step));
}

static void what_a_child_has_not_is_left_out_as_long_as_it_lives(void **state) {
  (void)state;
  step();
  pid_t child = begin_child();
  void *library = load();
  sample();
  step();
  assert_null(find(UNWIND_MAP_ALL, library));
  assert_non_null(find(UNWIND_MAP_ALL, (void *)(uintptr_t)&step));
  end_child(child);
  sample();
  step();
  assert_non_null(find(UNWIND_MAP_ALL, library));
  munmap(library, LIBRARY_BYTES);
}

static void what_was_there_before_the_fork_stays(void **state) {
  (void)state;
  step();
  void *library = load();
  pid_t child = begin_child();
  sample();
  step();
  assert_non_null(find(UNWIND_MAP_ALL, library));
  unload(NULL); /* of another object: both are read again */
  step();
  assert_non_null(find(UNWIND_MAP_ALL, library));
  end_child(child);
  munmap(library, LIBRARY_BYTES);
}

static void a_restored_target_has_nothing_steady_that_was_not(void **state) {
  (void)state;
  target->is_restored = true; /* its map is empty: its start was not seen */
  step();
  assert_non_null(find(UNWIND_MAP_ALL, (void *)(uintptr_t)&step));
  assert_int_equal(target->regions.map->counts[UNWIND_MAP_STEADY], 0);
}

static bool has_table(const struct target *of) {
  const struct unwind_region *own = find_in(of, UNWIND_MAP_ALL, (void *)(uintptr_t)&step);
  assert_non_null(own);
  return own->table != UNWIND_NO_TABLE;
}

static void a_table_that_one_program_needs_comes_to_all_that_wait_for_it(void **state) {
  (void)state;
  const uint64_t pc = (uint64_t)(uintptr_t)&step;
  pid_t child = begin_child();
  struct target *other = make_target(OTHER_TARGET, child);
  assert_non_null(other);
  share.used = memory.bytes / 4 * 3; /* the rest is for modules that walks need */
  step_target(target);
  step_target(other);
  assert_false(has_table(target));
  assert_false(has_table(other));
  process_maps_need(modules, processes_find(parts.processes, getpid()), &pc, 1);
  step_target(other); /* also if the program that needed it ends meanwhile */
  assert_true(has_table(other));
  step_target(target);
  assert_true(has_table(target));
  target_free(other, true);
  end_child(child);
}

enum { SPANS = 1100, PAGE = 4096 };

/* Makes every second page of MEMORY unusable for a stack, or all pages alike. */
static void set_pages(uint8_t *pages, int second) {
  for (unsigned i = 0; i < SPANS; i++)
    assert_int_equal(mprotect(pages + (2 * i + 1) * PAGE, PAGE, second), 0);
}

static uintptr_t stack_end(const uint8_t *at) {
  const struct unwind_map *map = target->regions.map;
  return unwind_map_stack_end(map, map->serial, (uint32_t)getpid(), (uintptr_t)at);
}

static void sample_on_other_stack(void) {
  processes_find(parts.processes, getpid())->has_other_stacks = true;
  sample();
  step();
}

static void edges_of_stacks_that_have_no_room_are_not_forgotten(void **state) {
  (void)state;
  uint8_t *pages = mmap(NULL, (size_t)2 * SPANS * PAGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(pages, MAP_FAILED);
  step();
  set_pages(pages, PROT_NONE);
  sample_on_other_stack();
  assert_int_equal(stack_end(pages + 2 * PAGE), (uintptr_t)pages + 3 * PAGE);
  for (unsigned turn = 0; turn < 2; turn++) { /* one mapping, in more pieces than fit */
    set_pages(pages, PROT_READ | PROT_WRITE);
    sample_on_other_stack();
    assert_int_equal(stack_end(pages + 2 * PAGE), 0);
  }
  set_pages(pages, PROT_NONE);
  sample_on_other_stack();
  assert_int_equal(stack_end(pages + 2 * PAGE), 0);
  munmap(pages, (size_t)2 * SPANS * PAGE);
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, make, unmake)

int main(void) {
  const struct CMUnitTest tests[] = {
      CLAIM(a_program_is_let_begin_when_its_tables_are_there),
      CLAIM(what_a_program_began_with_is_steady),
      CLAIM(what_comes_late_is_there_but_not_steady),
      CLAIM(what_was_unloaded_is_in_no_map_that_says_so),
      CLAIM(what_a_child_has_not_is_left_out_as_long_as_it_lives),
      CLAIM(what_was_there_before_the_fork_stays),
      CLAIM(a_restored_target_has_nothing_steady_that_was_not),
      CLAIM(a_table_that_one_program_needs_comes_to_all_that_wait_for_it),
      CLAIM(edges_of_stacks_that_have_no_room_are_not_forgotten),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
