/* SPDX-License-Identifier: Apache-2.0 */
/* Files as linkers lay them out, and mappings of whole pages as the kernel makes them. Each test
   has a file of program headers only, and converts an address in a mapping to one in that file. */
#include "targets/process_maps.h"
#include "targets/processes.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { TARGET = 1, NOBODY = 0x3ffffff0 /* above every pid_max */, HEADERS_MAX = 24 };

#define BASE UINT64_C(0x555500000000)

static struct modules *modules;
static struct processes *processes;
static struct process *process;
static char path[32];

static struct {
  Elf64_Ehdr head;
  Elf64_Phdr headers[HEADERS_MAX];
} image;

static void on_file(void *context, const struct module_found *found) {
  (void)context;
  (void)found;
}

static int make(void **state) {
  (void)state;
  memset(&image, 0, sizeof image);
  memcpy(image.head.e_ident, ELFMAG, SELFMAG);
  image.head.e_ident[EI_CLASS] = ELFCLASS64;
  image.head.e_ident[EI_DATA] =
      __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
  image.head.e_type = ET_DYN;
  image.head.e_phoff = sizeof image.head;
  image.head.e_phentsize = sizeof image.headers[0];
  snprintf(path, sizeof path, "/tmp/segments-XXXXXX");
  int fd = mkstemp(path);
  if (fd < 0 || close(fd) < 0) return -1;
  if (modules_new(on_file, NULL, &modules) || processes_new(modules, &processes)) return -1;
  process = processes_get(processes, NOBODY, TARGET, -1);
  return 0;
}

static int unmake(void **state) {
  (void)state;
  processes_free(processes);
  modules_free(modules);
  return unlink(path);
}

static void segment(uint32_t flags, uint64_t offset, uint64_t address, uint64_t bytes) {
  image.headers[image.head.e_phnum++] = (Elf64_Phdr){.p_type = PT_LOAD,
                                                     .p_flags = flags,
                                                     .p_offset = offset,
                                                     .p_vaddr = address,
                                                     .p_filesz = bytes};
}

static void write_file(void) {
  FILE *file = fopen(path, "we");
  assert_non_null(file);
  assert_int_equal(fwrite(&image, sizeof image, 1, file), 1);
  assert_int_equal(fclose(file), 0);
}

/* As the kernel and the loader map the segment at OFFSET, ADDRESS in pages of 4 KiB. */
static void map(uint64_t offset, uint64_t address, uint64_t bytes) {
  uint64_t low = address % 4096;
  struct process_map added = {.start = BASE + address - low,
                              .end = BASE + ((address + bytes + 4095) & ~UINT64_C(4095)),
                              .file_offset = offset - low};
  struct module_file file = {span_of_string(path), 0, 0};
  process_map_add(processes, process, &added, &file);
}

/* The address in the file of BASE + ADDRESS. */
static uint64_t found(uint64_t address) {
  uint64_t pc = BASE + address;
  struct code_frame frame;
  assert_int_equal(process_resolve(processes, process, &pc, 1, &frame), 1);
  return frame.address;
}

static void text_that_begins_within_a_page_has_its_own_addresses(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  segment(PF_R, 0, 0, 0x6c0);
  segment(PF_R | PF_X, 0x6c0, 0x16c0, 0x1000);
  segment(PF_R | PF_W, 0x16c0, 0x36c0, 0x100);
  write_file();
  map(0x6c0, 0x16c0, 0x1000);
  /* At 0x1010 are bytes of the first segment, mapped because pages are whole. */
  for (uint64_t address = 0x1010; address < 0x3000; address += 0x10)
    assert_int_equal(found(address), address);
}

static void a_page_of_the_file_that_two_texts_share_is_each_ones(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  segment(PF_R | PF_X, 0x500, 0x1500, 0x2a00);
  segment(PF_R | PF_X, 0x2f00, 0x40003f00, 0x3000);
  write_file();
  map(0x500, 0x1500, 0x2a00);
  map(0x2f00, 0x40003f00, 0x3000);
  assert_int_equal(found(0x1800), 0x1800);
  assert_int_equal(found(0x3e80), 0x3e80);
  assert_int_equal(found(0x40003f00), 0x40003f00);
  assert_int_equal(found(0x40005000), 0x40005000);
}

static void two_texts_in_one_page_of_the_file_are_told_apart_by_their_distance(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  segment(PF_R | PF_X, 0x200, 0x1200, 0x100);
  segment(PF_R | PF_X, 0x300, 0x40002300, 0x700);
  write_file();
  map(0x200, 0x1200, 0x100);
  map(0x300, 0x40002300, 0x700);
  assert_int_equal(found(0x1280), 0x1280);
  assert_int_equal(found(0x40002400), 0x40002400);
}

static void what_is_left_of_a_mapping_that_was_cut_stays_what_it_was(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  segment(PF_R | PF_X, 0x500, 0x1500, 0x2a00);
  segment(PF_R | PF_X, 0x2f00, 0x40003f00, 0x3000);
  write_file();
  map(0x500, 0x1500, 0x2a00);
  map(0x2f00, 0x40003f00, 0x3000);
  struct process_map other = {.start = BASE + 0x1000, .end = BASE + 0x3000};
  process_map_add(processes, process, &other, &(struct module_file){span_of_string(""), 0, 0});
  /* It begins where the second text's first page is in the file. */
  assert_int_equal(found(0x3100), 0x3100);
}

static void data_that_was_made_executable_has_its_own_addresses(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  segment(PF_R | PF_X, 0x500, 0x1500, 0x2a00);
  segment(PF_R | PF_W, 0x2f00, 0x4f00, 0x100);
  write_file();
  map(0x500, 0x1500, 0x2a00);
  map(0x2f00, 0x4f00, 0x100);
  assert_int_equal(found(0x4f80), 0x4f80);
}

static void a_text_behind_many_data_segments_is_found(void **state) {
  (void)state;
  if (getpagesize() != 4096) skip();
  for (unsigned i = 0; i < HEADERS_MAX - 1; i++) segment(PF_R, i * 0x1000, i * 0x1000, 0x800);
  segment(PF_R | PF_X, 0x20700, 0x7f0700, 0x1000);
  write_file();
  map(0x20700, 0x7f0700, 0x1000);
  assert_int_equal(found(0x7f0800), 0x7f0800);
}

static void an_offset_that_no_segment_has_stays_an_offset(void **state) {
  (void)state;
  segment(PF_R | PF_X, 0x1000, 0x5000, 0x1000);
  segment(PF_R | PF_X, UINT64_MAX - 0x100, 0x9000, UINT64_MAX);
  write_file();
  map(0x100000, 0x100000, 0x10000);
  assert_int_equal(found(0x100010), 0x100010);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(text_that_begins_within_a_page_has_its_own_addresses, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_page_of_the_file_that_two_texts_share_is_each_ones, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(
          two_texts_in_one_page_of_the_file_are_told_apart_by_their_distance, make, unmake),
      cmocka_unit_test_setup_teardown(what_is_left_of_a_mapping_that_was_cut_stays_what_it_was,
                                      make, unmake),
      cmocka_unit_test_setup_teardown(data_that_was_made_executable_has_its_own_addresses, make,
                                      unmake),
      cmocka_unit_test_setup_teardown(a_text_behind_many_data_segments_is_found, make, unmake),
      cmocka_unit_test_setup_teardown(an_offset_that_no_segment_has_stays_an_offset, make, unmake),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
