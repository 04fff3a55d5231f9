/* SPDX-License-Identifier: Apache-2.0 */
#include "tables/function_starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <elf.h>

enum { LIMIT_BYTES = 64 << 20, PUSHES_BYTES = 64, FILE_BYTES = LIMIT_BYTES + PUSHES_BYTES + 100 };

/* An ARM file of two sections of code: BYTES of nothing, and pushes as Thumb code has them. */
static bool is_thumb_behind(uint32_t bytes) {
  struct function_starts none = {.starts = NULL};
  uint8_t *file = calloc(1, FILE_BYTES);
  assert_non_null(file);
  const Elf32_Shdr sections[] = {
      {.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR, .sh_offset = 100, .sh_size = bytes},
      {.sh_type = SHT_PROGBITS,
       .sh_flags = SHF_EXECINSTR,
       .sh_offset = 100 + LIMIT_BYTES,
       .sh_size = PUSHES_BYTES}};
  memcpy(file, sections, sizeof sections);
  for (unsigned i = 1; i < PUSHES_BYTES; i += 2) file[100 + LIMIT_BYTES + i] = 0xb5;
  struct elf_image image = {.file = span_of(file, FILE_BYTES),
                            .head = {.read = elf_read_span, .section_count = 2},
                            .machine = EM_ARM};
  bool ret = function_starts_is_thumb(&image, &none);
  free(file);
  return ret;
}

/* Sections may overlap, and there may be 65535 of them. */
static void code_beyond_the_limit_is_not_looked_at(void **state) {
  (void)state;
  assert_true(is_thumb_behind(LIMIT_BYTES - PUSHES_BYTES));
  assert_false(is_thumb_behind(LIMIT_BYTES));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(code_beyond_the_limit_is_not_looked_at),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
