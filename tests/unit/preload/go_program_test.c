/* SPDX-License-Identifier: Apache-2.0 */
/* Signs of Go in program headers made by hand, and none in this program. */
#include "preload/go_program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { NOTE_BYTES = 24, DATA_BYTES = 256 };

static bool sees(uint32_t type, uint32_t flags, const void *bytes, size_t len) {
  ElfW(Phdr) header = {.p_type = type, .p_flags = flags, .p_vaddr = 0, .p_filesz = len};
  return go_program_is_one(&header, 1, (uintptr_t)bytes);
}

static void the_note_of_its_linker_is_a_sign(void **state) {
  (void)state;
  uint8_t note[NOTE_BYTES] = {4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 'G', 'o', 0, 0, 'x', 'y', 'z'};
  assert_true(sees(PT_NOTE, PF_R, note, 20));
  note[13] = 'N';
  assert_false(sees(PT_NOTE, PF_R, note, 20));
}

static void the_mark_in_its_data_is_a_sign(void **state) {
  (void)state;
  uint8_t data[DATA_BYTES] = {0};
  assert_false(sees(PT_LOAD, PF_R | PF_W, data, sizeof data));
  memcpy(data + 64, "\xff Go buildinf:", 14);
  assert_true(sees(PT_LOAD, PF_R | PF_W, data, sizeof data));
  assert_false(sees(PT_LOAD, PF_R | PF_X, data, sizeof data));
  assert_false(sees(PT_LOAD, PF_R | PF_W, data, 70));
}

static void notes_with_impossible_sizes_are_not_followed(void **state) {
  (void)state;
  uint8_t note[NOTE_BYTES] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
  assert_false(sees(PT_NOTE, PF_R, note, sizeof note));
  for (size_t len = 0; len < sizeof note; len++) assert_false(sees(PT_NOTE, PF_R, note, len));
}

static void this_program_is_none(void **state) {
  (void)state;
  assert_false(go_program_is_this());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_note_of_its_linker_is_a_sign),
      cmocka_unit_test(the_mark_in_its_data_is_a_sign),
      cmocka_unit_test(notes_with_impossible_sizes_are_not_followed),
      cmocka_unit_test(this_program_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
