/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing functions at an address. */
#ifndef TESTS_REPORT_FRAME_FIXTURE_H
#define TESTS_REPORT_FRAME_FIXTURE_H

#include "symbol/symbol_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static inline void assert_text(const char *got, const char *want) {
  if (want == NULL)
    assert_null(got);
  else
    assert_string_equal(got, want);
}

static inline void assert_frame(const struct symbol_frame *got, const struct symbol_frame *want) {
  assert_text(got->name, want->name);
  assert_text(symbol_frame_system_name(got), symbol_frame_system_name(want));
  assert_text(got->file, want->file);
  assert_text(got->decl_file, want->decl_file);
  assert_int_equal(got->line, want->line);
  assert_int_equal(got->decl_line, want->decl_line);
  assert_int_equal(got->start, want->start);
  assert_int_equal(got->size, want->size);
}

#endif
