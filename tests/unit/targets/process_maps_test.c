/* SPDX-License-Identifier: Apache-2.0 */
#include "targets/process_maps.h"
#include "targets/processes.h"

#include "proc/mount_info.h"

#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 7 };
#define BASE 0x550000000000UL

static struct modules *modules;
static struct processes *processes;
static char exe[LIMIT_PATH_BYTES];
static struct stat file;
static ElfW(Phdr) text, data; /* of this program */
static uint64_t page;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int find_segments(struct dl_phdr_info *object, size_t bytes, void *context) {
  (void)bytes;
  (void)context;
  for (unsigned i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_flags & PF_X) text = *segment;
    if (segment->p_flags & PF_W) data = *segment;
  }
  return 1; /* the program is the first */
}

static int make(void **state) {
  (void)state;
  page = (uint64_t)sysconf(_SC_PAGESIZE);
  dl_iterate_phdr(find_segments, NULL);
  ssize_t len = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (len <= 0 || stat(exe, &file) != 0) return -1;
  return modules_new(on_file, NULL, &modules) || processes_new(modules, &processes);
}

static int unmake(void **state) {
  (void)state;
  processes_free(processes);
  modules_free(modules);
  return 0;
}

static uint64_t down(uint64_t at) {
  return at & ~(page - 1);
}

static uint64_t text_start(void) {
  return BASE + down(text.p_vaddr);
}

static uint64_t text_end(void) {
  return BASE + down(text.p_vaddr + text.p_filesz + page - 1);
}

/* Makes a process read mappings with WHAT ("device inode path") in place of our own text between
   START and END, followed by our data or not. */
static struct process *read_maps(uint64_t start, uint64_t end, const char *what, bool has_data) {
  struct process *self = processes_get(processes, getpid(), TARGET, -1);
  char lines[2 * LIMIT_PATH_BYTES];
  int fd = memfd_create("maps", MFD_CLOEXEC);
  int len = snprintf(lines, sizeof lines, "%lx-%lx r-xp 00000000 %s\n", (unsigned long)start,
                     (unsigned long)end, what);
  if (has_data)
    len += snprintf(lines + len, sizeof lines - (size_t)len, "%lx-%lx rw-p %08lx %x:%x %lu %s\n",
                    (unsigned long)(BASE + down(data.p_vaddr)),
                    (unsigned long)(BASE + down(data.p_vaddr) + page),
                    (unsigned long)down(data.p_offset), major(file.st_dev), minor(file.st_dev),
                    (unsigned long)file.st_ino, exe);
  assert_int_equal(write(fd, lines, (size_t)len), len);
  assert_int_equal(process_maps_read(modules, self, fd), 0);
  close(fd);
  assert_int_equal(self->map_count, 1);
  return self;
}

static const char *path_of(uint32_t module) {
  struct batch_module described;
  modules_describe(modules, module, &described);
  return described.path;
}

static void anonymous_memory_in_the_place_of_a_files_text_is_that_text(void **state) {
  (void)state;
  const struct process *self = read_maps(text_start(), text_end(), "00:00 0 ", true);
  assert_string_equal(path_of(self->maps[0].module), exe);
  assert_int_equal(self->maps[0].file_offset, down(text.p_offset));
}

static void a_memfd_in_the_place_of_a_files_text_is_that_text(void **state) {
  (void)state;
  const struct process *self =
      read_maps(text_start(), text_end(), "00:01 4711 /memfd:text (deleted)", true);
  assert_string_equal(path_of(self->maps[0].module), exe);
  assert_int_equal(self->maps[0].inode, file.st_ino);
}

static void a_part_of_a_text_that_was_moved_keeps_its_addresses(void **state) {
  (void)state;
  struct code_frame frame;
  if (text_end() - text_start() < 3 * page) skip();
  uint64_t pc = text_start() + page + 16;
  struct process *self = read_maps(text_start() + page, text_start() + 2 * page, "00:00 0 ", true);
  assert_string_equal(path_of(self->maps[0].module), exe);
  assert_int_equal(process_resolve(processes, self, &pc, 1, &frame), 1);
  assert_int_equal(frame.address, pc - BASE);
}

static void code_beside_a_files_text_is_not_that_text(void **state) {
  (void)state;
  const struct process *self = read_maps(text_start() - page, text_end(), "00:00 0 ", true);
  assert_int_equal(self->maps[0].module, MODULE_ANON);
  self = read_maps(text_end() + (4 << 20), text_end() + (5 << 20), "00:00 0 ", true);
  assert_int_equal(self->maps[0].module, MODULE_ANON);
}

static void code_where_a_file_was_and_is_no_more_is_not_that_files(void **state) {
  (void)state;
  const struct process *self = read_maps(text_start(), text_end(), "00:00 0 ", false);
  assert_int_equal(self->maps[0].module, MODULE_ANON);
}

static void add(struct process *process, uint64_t start, uint64_t end, const char *path) {
  struct process_map map = {.start = start, .end = end, .file_offset = 0x1000};
  struct module_file named = {span_of_string(path), 0, 0};
  process_map_add(processes, process, &map, &named);
}

static void a_program_that_moves_its_text_keeps_its_name_in_the_kernels_records(void **state) {
  (void)state;
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  process_exec(process, "program");
  add(process, 0x10000, 0x20000, "/bin/program");
  add(process, 0x12000, 0x14000, "//anon");
  assert_true(process_has_code(process, 0x13000));
  assert_string_equal(path_of(process->maps[1].module), "/bin/program");
  assert_int_equal(process->maps[1].file_offset, 0x3000);
  add(process, 0x12000, 0x14000, "/memfd:text");
  assert_string_equal(path_of(process->maps[1].module), "/bin/program");
}

static void memory_in_the_place_of_a_librarys_text_waits_for_proof(void **state) {
  (void)state;
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  process_exec(process, "program");
  add(process, 0x10000, 0x20000, "/bin/program");
  add(process, 0x30000, 0x40000, "/lib/library");
  add(process, 0x30000, 0x40000, "//anon");
  assert_int_equal(process->maps[1].module, MODULE_ANON);
  assert_false(process_has_code(process, 0x31000));
  add(process, 0x50000, 0x60000, "//anon");
  assert_true(process_has_code(process, 0x51000));
}

static void a_module_is_needed_once_a_walk_has_ended_with_a_frame_in_it(void **state) {
  (void)state;
  /* The caller's call is the last instruction of the library. */
  const uint64_t pcs[] = {0x10000, 0x40000, 0x70000};
  struct process *process = processes_get(processes, getpid(), TARGET, -1);
  process_exec(process, "program");
  add(process, 0x10000, 0x20000, "/bin/program");
  add(process, 0x30000, 0x40000, "/lib/library");
  add(process, 0x40000, 0x50000, "/lib/other");
  assert_false(modules_is_needed(modules, process->maps[0].module));
  uint64_t serial = modules_needs_serial(modules);
  process_maps_need(modules, process, pcs, 3);
  assert_true(modules_is_needed(modules, process->maps[0].module));
  assert_true(modules_is_needed(modules, process->maps[1].module));
  assert_false(modules_is_needed(modules, process->maps[2].module));
  assert_int_not_equal(modules_needs_serial(modules), serial);
  serial = modules_needs_serial(modules);
  process_maps_need(modules, process, pcs, 3);
  assert_int_equal(modules_needs_serial(modules), serial); /* no news */
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
      TEST(anonymous_memory_in_the_place_of_a_files_text_is_that_text),
      TEST(a_memfd_in_the_place_of_a_files_text_is_that_text),
      TEST(a_part_of_a_text_that_was_moved_keeps_its_addresses),
      TEST(code_beside_a_files_text_is_not_that_text),
      TEST(code_where_a_file_was_and_is_no_more_is_not_that_files),
      TEST(a_program_that_moves_its_text_keeps_its_name_in_the_kernels_records),
      TEST(memory_in_the_place_of_a_librarys_text_waits_for_proof),
      TEST(a_module_is_needed_once_a_walk_has_ended_with_a_frame_in_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
