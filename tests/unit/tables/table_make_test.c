/* SPDX-License-Identifier: Apache-2.0 */
/* Complete files: where unwind information is found, its order of preference, and the message for a
   file without it or with false content. */
#include "tables/table_make.h"

#include "frames_fixture.h"
#include "machines.h"
#include "module_fixture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { F = 0x2000, G = 0x3000, ENTRY = 0x1800 };

/* A module, its frames, and the resulting table. */
struct made {
  struct module module;
  struct frames eh, debug;
  struct buf file, debug_file;
  struct frames table; /* for frames_at */
  struct table_report report;
};

static int set_up(void **state) {
  struct made *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->module.machine = EM_X86_64;
  frames_init(&made->eh, EM_X86_64);
  frames_init(&made->debug, EM_X86_64);
  made->debug.is_debug = true;
  made->debug.encoding = 0;
  *state = made;
  return 0;
}

static int tear_down(void **state) {
  struct made *made = *state;
  frames_fini(&made->eh);
  frames_fini(&made->debug);
  frames_fini(&made->table);
  buf_fini(&made->file);
  buf_fini(&made->debug_file);
  free(made);
  return 0;
}

/* A function whose rule at its second byte identifies the source used. */
static void tell(struct frames *frames, uint64_t start, uint8_t offset) {
  frames_function(frames, frames_usual_cie(frames), start, 0x10, PROGRAM(0x0e, offset));
}

static int make(struct made *made) {
  struct table_input input = {.debug = buf_span(&made->debug_file), .arch = machine_of(EM_X86_64)};
  if (made->file.len == 0) {
    made->module.eh_frame = buf_span(&made->eh.bytes);
    module_write(&made->module, &made->file);
  }
  input.file = buf_span(&made->file);
  buf_clear(&made->table.table);
  return table_make(&input, &made->table.table, &made->report);
}

static void write_debug_file(struct made *made, struct module of) {
  of.debug_frame = buf_span(&made->debug.bytes);
  module_write(&of, &made->debug_file);
}

#define assert_rule(address, words) assert_string_equal(frames_at(&made->table, address), words)

static void eh_frame_is_found_without_section_headers(void **state) {
  struct made *made = *state;
  made->module.has_no_sections = true;
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(F + 0x10, "none");
  const struct unwind_table *table = (const void *)made->table.table.data;
  assert_int_equal(table->sources, UNWIND_EH_FRAME);
  assert_int_equal(unwind_table_check(table, made->table.table.len, EM_X86_64), 0);
}

static void eh_frame_is_found_without_its_segment(void **state) {
  struct made *made = *state;
  made->module.has_no_header = true;
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
}

static void eh_frame_ends_with_its_section(void **state) {
  struct made *made = *state;
  tell(&made->eh, F, 16);
  made->module.eh_section_bytes = made->eh.bytes.len;
  tell(&made->eh, G, 16);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(G, "none");
}

static void debug_frame_tells_what_eh_frame_does_not(void **state) {
  struct made *made = *state;
  tell(&made->eh, F, 16);
  tell(&made->debug, F, 24);
  tell(&made->debug, G, 24);
  made->module.debug_frame = buf_span(&made->debug.bytes);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(G, "sp+24 c-8 u u");
  assert_int_equal(made->report.functions_left, 1);
  const struct unwind_table *table = (const void *)made->table.table.data;
  assert_int_equal(table->sources, UNWIND_EH_FRAME | UNWIND_DEBUG_FRAME);
  assert_int_equal(table->functions_left, 1);
  assert_int_equal(table->functions_refused, 0);
}

static void what_was_refused_is_said_in_the_table(void **state) {
  struct made *made = *state;
  frames_function(&made->eh, frames_usual_cie(&made->eh), F, 0x10, PROGRAM(0x3f));
  tell(&made->eh, G, 16);
  assert_int_equal(make(made), 0);
  assert_rule(F, "none");
  assert_rule(G, "sp+16 c-8 u u");
  const struct unwind_table *table = (const void *)made->table.table.data;
  assert_non_null(made->report.why);
  assert_int_equal(table->functions_refused, 1);
}

static void a_separate_debug_file_tells_too(void **state) {
  struct made *made = *state;
  tell(&made->eh, F, 16);
  tell(&made->debug, G, 24);
  write_debug_file(made, made->module);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(G, "sp+24 c-8 u u");
}

static void a_deflated_one_is_inflated(void **state) {
  struct made *made = *state;
  tell(&made->debug, G, 24);
  made->module.is_deflated = true;
  write_debug_file(made, made->module);
  made->module.is_deflated = false;
  assert_int_equal(make(made), 0);
  assert_rule(G, "sp+24 c-8 u u");
}

static void narrow_files_are_read(void **state) {
  struct made *made = *state;
  made->module.is_narrow = true;
  made->eh.word_bytes = made->debug.word_bytes = 4;
  tell(&made->eh, F, 16);
  tell(&made->debug, G, 24);
  made->module.is_deflated = true;
  made->module.debug_frame = buf_span(&made->debug.bytes);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(G, "sp+24 c-8 u u");
}

/* The message about a deflated section with a false size; the rest of the file must stay usable. */
static void assert_refused(struct made *made, struct module debug, const char *why) {
  tell(&made->eh, F, 16);
  tell(&made->debug, G, 24);
  debug.is_deflated = true;
  write_debug_file(made, debug);
  assert_int_equal(make(made), 0);
  assert_rule(F, "sp+16 c-8 u u");
  assert_rule(G, "none");
  assert_string_equal(made->report.why, why);
}

static void a_size_that_is_not_so_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .inflated_bytes = 20},
                 "a .debug_frame that does not inflate to what it says");
}

static void more_than_there_is_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .inflated_bytes = 200},
                 "a .debug_frame that does not inflate to what it says");
}

static void a_debug_file_of_another_word_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .is_narrow = true},
                 "a debug file of another kind than its module");
}

static void a_size_that_cannot_be_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .inflated_bytes = 1 << 26},
                 "a .debug_frame that does not inflate to what it says");
}

static void a_size_beyond_all_limits_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .inflated_bytes = UINT64_C(1) << 40},
                 "a .debug_frame that is too large");
}

static void another_compression_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_X86_64, .deflate_kind = 2},
                 "a .debug_frame compressed by another method than zlib's");
}

static void a_debug_file_of_another_cpu_is_refused(void **state) {
  struct made *made = *state;
  assert_refused(made, (struct module){.machine = EM_AARCH64},
                 "a debug file of another kind than its module");
}

static void nobody_calls_the_entry(void **state) {
  struct made *made = *state;
  made->module.entry = ENTRY;
  tell(&made->eh, ENTRY + 0x20, 16);
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  assert_rule(ENTRY - 1, "none");
  assert_rule(ENTRY, "end");
  assert_rule(ENTRY + 0x1f, "end");
  assert_rule(ENTRY + 0x20, "sp+16 c-8 u u");
}

static void a_librarys_entry_is_called_like_any_other(void **state) {
  struct made *made = *state;
  made->module.entry = MODULE_CODE; /* as older linkers write */
  made->module.has_no_sections = true;
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  assert_rule(MODULE_CODE, "none");
  made->module.has_interpreter = true;
  buf_clear(&made->file);
  assert_int_equal(make(made), 0);
  assert_rule(MODULE_CODE, "end");
  made->module.has_interpreter = false;
  made->module.is_fixed = true;
  buf_clear(&made->file);
  assert_int_equal(make(made), 0);
  assert_rule(MODULE_CODE, "end");
}

static void the_entry_ends_where_nothing_does(void **state) {
  struct made *made = *state;
  made->module.entry = ENTRY;
  assert_int_equal(make(made), 0);
  assert_rule(ENTRY + 63, "end");
  assert_rule(ENTRY + 64, "none");
}

static void an_entry_that_is_told_of_is_believed(void **state) {
  struct made *made = *state;
  made->module.entry = F + 8;
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  assert_rule(F + 8, "sp+16 c-8 u u");
  assert_rule(F + 0x10, "none");
}

static void what_has_nothing_to_tell_has_no_table(void **state) {
  struct made *made = *state;
  assert_int_equal(make(made), -ENODATA);
}

static void what_is_no_file_for_us_is_refused(void **state) {
  struct made *made = *state;
  tell(&made->eh, F, 16);
  made->module.machine = EM_AARCH64;
  assert_int_equal(make(made), -EPROTO);
  made->file.data[EI_DATA] = ELFDATA2MSB;
  assert_int_equal(make(made), -EBADMSG);
  made->file.data[EI_DATA] = ELFDATA2LSB;
  made->file.data[EI_CLASS] = 3;
  assert_int_equal(make(made), -EBADMSG);
  made->file.data[EI_CLASS] = ELFCLASS64;
  made->file.data[offsetof(Elf64_Ehdr, e_type)] = ET_REL;
  assert_int_equal(make(made), -EBADMSG);
  made->file.len = 20;
  assert_int_equal(make(made), -EBADMSG);
}

static void more_segments_than_any_linker_writes_are_none(void **state) {
  struct made *made = *state;
  uint16_t count = 129;
  tell(&made->eh, F, 16);
  assert_int_equal(make(made), 0);
  memcpy(made->file.data + offsetof(Elf64_Ehdr, e_phnum), &count, sizeof count);
  assert_int_equal(make(made), -ENODATA);
}

static void every_cut_of_a_file_ends_well(void **state) {
  struct made *made = *state;
  tell(&made->eh, F, 16);
  tell(&made->debug, G, 24);
  made->module.debug_frame = buf_span(&made->debug.bytes);
  assert_int_equal(make(made), 0);
  size_t whole = made->file.len;
  for (size_t len = 0; len < whole; len += len < 300 || len > 0x3ff0 ? 1 : 100) {
    made->file.len = len;
    int rc = make(made);
    assert_true(rc == 0 || rc == -EBADMSG || rc == -ENODATA);
  }
}

int main(void) {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CLAIM(eh_frame_is_found_without_section_headers),
      CLAIM(eh_frame_is_found_without_its_segment),
      CLAIM(eh_frame_ends_with_its_section),
      CLAIM(debug_frame_tells_what_eh_frame_does_not),
      CLAIM(what_was_refused_is_said_in_the_table),
      CLAIM(a_separate_debug_file_tells_too),
      CLAIM(a_deflated_one_is_inflated),
      CLAIM(narrow_files_are_read),
      CLAIM(a_size_that_is_not_so_is_refused),
      CLAIM(more_than_there_is_is_refused),
      CLAIM(a_debug_file_of_another_word_is_refused),
      CLAIM(a_size_that_cannot_be_is_refused),
      CLAIM(a_size_beyond_all_limits_is_refused),
      CLAIM(another_compression_is_refused),
      CLAIM(a_debug_file_of_another_cpu_is_refused),
      CLAIM(nobody_calls_the_entry),
      CLAIM(a_librarys_entry_is_called_like_any_other),
      CLAIM(the_entry_ends_where_nothing_does),
      CLAIM(an_entry_that_is_told_of_is_believed),
      CLAIM(what_has_nothing_to_tell_has_no_table),
      CLAIM(what_is_no_file_for_us_is_refused),
      CLAIM(more_segments_than_any_linker_writes_are_none),
      CLAIM(every_cut_of_a_file_ends_well),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
