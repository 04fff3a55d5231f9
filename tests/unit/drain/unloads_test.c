/* SPDX-License-Identifier: Apache-2.0 */
#include "drain/unloads.h"

#include "ring/ring_format.h"

#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 7 };
#define PLACE 0x123450000000UL /* where the plug-in was */

static struct modules *modules;
static struct processes *processes;
static struct target target;
static struct ring_header *header;
static struct process *self;
static char exe[UNLOAD_PATH_BYTES];
static uint64_t first_hash;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int hash_first(struct dl_phdr_info *object, size_t bytes, void *context) {
  (void)bytes;
  (void)context;
  for (unsigned i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && segment->p_offset == 0)
      first_hash =
          unload_hash((const void *)(object->dlpi_addr + segment->p_vaddr), segment->p_filesz);
  }
  return 1; /* the program is the first */
}

static int make(void **state) {
  (void)state;
  ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (len <= 0) return -1;
  dl_iterate_phdr(hash_first, NULL);
  header = calloc(1, ring_total_bytes(1, RING_SLOT_BYTES_MIN));
  target = (struct target){
      .ring = {.base = (uint8_t *)header, .slot_count = 1, .slot_bytes = RING_SLOT_BYTES_MIN}};
  header->unload_log.is_told = 1;
  if (modules_new(on_file, NULL, &modules) || processes_new(modules, &processes)) return -1;
  self = processes_get(processes, getpid(), TARGET, -1);
  return self == NULL;
}

static int unmake(void **state) {
  (void)state;
  processes_free(processes);
  modules_free(modules);
  free(target.unload_history);
  free(target.slot_marks);
  free(header);
  return 0;
}

/* Like dlclose: an object at PLACE was unloaded; it is our own file if HASH is that file's. */
static void unload(uint64_t hash) {
  struct unload_log *log = &header->unload_log;
  struct unload_image *image = &log->images[log->image_count % UNLOAD_IMAGES_MAX];
  *image = (struct unload_image){.start = PLACE, .bytes = 0x1000, .hash = hash};
  memcpy(image->path, exe, sizeof image->path);
  header->unloads++;
  log->events[log->event_count++ % UNLOAD_EVENTS_MAX] =
      (struct unload_event){header->unloads, (uint32_t)getpid(), log->image_count++};
  header->unloads++;
}

/* The module of PC for a sample behind a mark of UNLOADS. */
static uint32_t module_of(uint64_t pc, uint32_t unloads) {
  struct slot_mark mark = {
      .owner = ring_owner((uint32_t)getpid(), 1), .unloads = unloads, .is_known = true};
  const struct unloads_sample sample = {&mark, self, -1};
  struct code_frame frame;
  unloads_prepare(&target, processes, modules, &sample);
  process_resolve(processes, self, &pc, 1, &frame);
  return frame.module;
}

static bool is_exe(uint32_t module) {
  struct batch_module described;
  modules_describe(modules, module, &described);
  return strcmp(described.path, exe) == 0;
}

static void a_sample_from_before_an_unloading_is_in_what_has_gone(void **state) {
  (void)state;
  unload(first_hash);
  assert_true(is_exe(module_of(PLACE + 16, 0)));
  assert_true(is_exe(module_of(PLACE + 16, 1))); /* while it went */
}

static void a_program_that_unloads_nothing_has_no_history(void **state) {
  (void)state;
  assert_int_equal(module_of(PLACE + 16, 0), MODULE_ANON);
  assert_null(target.unload_history);
  unload(first_hash);
  assert_true(is_exe(module_of(PLACE + 16, 0)));
  assert_non_null(target.unload_history);
}

static void a_sample_from_after_an_unloading_is_not(void **state) {
  (void)state;
  unload(first_hash);
  assert_int_equal(module_of(PLACE + 16, 2), MODULE_ANON);
}

static void the_first_of_two_in_one_place_that_went_since_is_taken(void **state) {
  (void)state;
  unload(first_hash);
  unload(first_hash ^ 1); /* another file, which is not there any more */
  assert_true(is_exe(module_of(PLACE + 16, 0)));
  assert_int_equal(module_of(PLACE + 16, 2), MODULE_UNKNOWN);
}

static void a_file_with_other_bytes_is_not_taken_for_the_one_that_has_gone(void **state) {
  (void)state;
  unload(first_hash ^ 1);
  assert_int_equal(module_of(PLACE + 16, 0), MODULE_UNKNOWN);
}

static void what_may_be_missing_in_the_log_makes_a_sample_unsure(void **state) {
  (void)state;
  unload(first_hash);
  atomic_store(&header->unload_log.lost, 1);
  assert_int_equal(module_of(PLACE + 16, 1), MODULE_UNKNOWN);
  for (unsigned i = 0; i < UNLOAD_EVENTS_MAX + 1; i++) unload(first_hash);
  assert_int_equal(module_of(PLACE + 16, 2), MODULE_UNKNOWN); /* overwritten */
  assert_true(is_exe(module_of(PLACE + 16, header->unloads - 2)));
}

static void an_agent_without_a_log_is_believed_where_nothing_was_unloaded(void **state) {
  (void)state;
  struct slot_mark mark = {.owner = ring_owner((uint32_t)getpid(), 1), .is_known = true};
  const struct unloads_sample sample = {&mark, self, -1};
  header->unload_log.is_told = 0;
  header->unloads = 4;
  unloads_prepare(&target, processes, modules, &sample);
  assert_true(self->is_unsure);
  unloads_settle(&mark, 4);
  unloads_prepare(&target, processes, modules, &sample);
  assert_false(self->is_unsure);
}

static void two_halves_make_a_mark(void **state) {
  (void)state;
  struct slot_mark mark = {.name = "old"};
  struct ring_sample sample;
  struct ring_pair last = {.pc_weight = RING_PAIR_MARK_LAST}, first = {.pc_weight = 6};
  memcpy(&first.lr, "abcdefgh", 8);
  memcpy(&last.lr, "ijklmno", 8);
  assert_int_equal(ring_pair_decode((const uint8_t *)&last, sizeof last, &sample), sizeof last);
  slot_marks_take(&mark, &sample);
  assert_string_equal(mark.name, "old");
  assert_int_equal(ring_pair_decode((const uint8_t *)&first, sizeof first, &sample), sizeof first);
  assert_int_equal(sample.depth, 0);
  slot_marks_take(&mark, &sample);
  assert_string_equal(mark.name, "abcdefghijklmno");
  assert_int_equal(mark.unloads, 6);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(a_sample_from_before_an_unloading_is_in_what_has_gone),
      TEST(a_program_that_unloads_nothing_has_no_history),
      TEST(a_sample_from_after_an_unloading_is_not),
      TEST(the_first_of_two_in_one_place_that_went_since_is_taken),
      TEST(a_file_with_other_bytes_is_not_taken_for_the_one_that_has_gone),
      TEST(what_may_be_missing_in_the_log_makes_a_sample_unsure),
      TEST(an_agent_without_a_log_is_believed_where_nothing_was_unloaded),
      TEST(two_halves_make_a_mark),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
