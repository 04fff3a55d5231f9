/* SPDX-License-Identifier: Apache-2.0 */
/* Entries in all valid forms; invalid ones are omitted one by one. */
#include "frames_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { F = 0x2000, G = 0x3000 };

static int set_up(void **state) {
  struct frames *frames = calloc(1, sizeof *frames);
  assert_non_null(frames);
  frames_init(frames, EM_X86_64);
  *state = frames;
  return 0;
}

static int tear_down(void **state) {
  frames_fini(*state);
  free(*state);
  return 0;
}

static const char usual[] = "sp+8 c-8 u u";

static void reset(struct frames *frames, uint16_t machine) {
  frames_fini(frames);
  frames_init(frames, machine);
}

static void read_two(struct frames *frames, size_t cie) {
  frames_function(frames, cie, F, 0x10, PROGRAM(0x41, 0x0e, 16));
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  frames_read(frames);
}

static void assert_two(struct frames *frames) {
  assert_int_equal(frames->report.functions_refused, 0);
  assert_string_equal(frames_at(frames, F), usual);
  assert_string_equal(frames_at(frames, F + 1), "sp+16 c-8 u u");
  assert_string_equal(frames_at(frames, F + 0xf), "sp+16 c-8 u u");
  assert_string_equal(frames_at(frames, F + 0x10), "none");
  assert_string_equal(frames_at(frames, G), usual);
  assert_string_equal(frames_at(frames, G - 1), "none");
}

static void addresses_are_written_in_many_ways(void **state) {
  static const uint8_t encodings[] = {0x00, 0x02, 0x03, 0x04, 0x0a, 0x0b,
                                      0x0c, 0x10, 0x14, 0x1b, 0x1c};
  for (size_t i = 0; i < sizeof encodings; i++) {
    reset(*state, EM_X86_64);
    struct frames *frames = *state;
    frames->encoding = encodings[i];
    read_two(frames, frames_usual_cie(frames));
    assert_two(frames);
  }
}

static void addresses_that_a_running_program_must_tell_are_refused(void **state) {
  static const uint8_t encodings[] = {0x80, 0x9b, 0x2b, 0x3b, 0x4b, 0x50, 0xff, 0x05};
  for (size_t i = 0; i < sizeof encodings; i++) {
    reset(*state, EM_X86_64);
    struct frames *frames = *state;
    frames->encoding = encodings[i];
    read_two(frames, frames_usual_cie(frames));
    assert_int_equal(frames->report.functions_refused, 2);
    assert_string_equal(frames->report.why, "an address of unknown form");
    assert_int_equal(frames->table.len, 0);
  }
}

static void both_sections_both_lengths_all_versions(void **state) {
  static const uint8_t versions[] = {1, 3, 4};
  for (unsigned i = 0; i < 12; i++) {
    reset(*state, EM_X86_64);
    struct frames *frames = *state;
    frames->version = versions[i % 3];
    frames->is_debug = i / 3 % 2 == 1;
    frames->is_long = i / 6 == 1;
    if (frames->is_debug) frames->encoding = 0;
    read_two(frames, frames_usual_cie(frames));
    assert_two(frames);
  }
}

static void words_of_four_bytes(void **state) {
  struct frames *frames = *state;
  reset(frames, EM_ARM);
  frames->is_debug = true;
  frames->encoding = 0;
  frames->return_column = 14;
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, F, 0x10, PROGRAM(0x42, 0x0e, 8, 0x87, 2, 0x8e, 1));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F), "sp+0 u u u");
  assert_string_equal(frames_at(frames, F + 2), "sp+8 c-4 u c-8");
}

static void augmentations_of_exceptions_and_signals(void **state) {
  struct frames *frames = *state;
  size_t exceptions = frames_cie(frames, "zPLR", PROGRAM(0x0c, 7, 8, 0x90, 1));
  size_t signal = frames_cie(frames, "zRS", PROGRAM(0x0c, 7, 8, 0x90, 1));
  size_t key = frames_cie(frames, "zRBG", PROGRAM(0x0c, 7, 8, 0x90, 1));
  frames->own_bytes = 5; /* where the table for exceptions is; as instructions they are wrong */
  frames_function(frames, exceptions, F, 0x10, PROGRAM(0));
  frames_function(frames, signal, F + 0x10, 0x10, PROGRAM(0x0f, 3, 0x77, 0x20, 0x06));
  frames_function(frames, key, F + 0x20, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F), usual);
  assert_string_equal(frames_at(frames, F + 0x10), "signal");
  assert_string_equal(frames_at(frames, F + 0x20), usual);
}

/* As the vDSO of RISC-V has it, which does not begin early. */
static void an_augmentation_is_no_longer_than_anybody_needs(void **state) {
  struct frames *frames = *state;
  size_t most = frames_cie(frames, "zRSSSSSSSSSSSSSS", PROGRAM(0x0c, 7, 8, 0x90, 1));
  size_t more = frames_cie(frames, "zRSSSSSSSSSSSSSSS", PROGRAM(0x0c, 7, 8, 0x90, 1));
  frames_function(frames, most, F, 0x10, PROGRAM(0));
  frames_function(frames, more, G, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F), "signal");
  assert_string_equal(frames_at(frames, G), "none");
  assert_string_equal(frames->report.why, "a CIE whose augmentation does not end");
}

static void a_caller_that_a_handler_returns_to_is_no_neighbour(void **state) {
  struct frames *frames = *state;
  reset(frames, EM_RISCV);
  size_t plain = frames_usual_cie(frames);
  size_t signal = frames_cie(frames, "zRS", PROGRAM(0x0c, 2, 0));
  frames_function(frames, plain, F, 0x10, PROGRAM(0x0e, 16));
  frames_function(frames, signal, F + 0x10, 8, PROGRAM(0));
  frames_read(frames);
  assert_string_equal(frames_at(frames, F + 0xe), "sp+16 u u u");
  assert_string_equal(frames_at(frames, F + 0xf), "signal");
  assert_string_equal(frames_at(frames, F + 0x17), "signal");
}

static void a_signals_frame_may_begin_elsewhere(void **state) {
  struct frames *frames = *state;
  reset(frames, EM_ARM);
  frames->is_debug = true;
  frames->encoding = 0;
  size_t with = frames_cie(frames, "S", PROGRAM(0x0c, 13, 0, 0x11, 13, 0x4b)); /* siginfo first */
  size_t without = frames_cie(frames, "S", PROGRAM(0x0c, 13, 0, 0x11, 13, 0x6b));
  frames_function(frames, with, F, 0x10, PROGRAM(0));
  frames_function(frames, without, G, 0x10, PROGRAM(0));
  frames_read(frames);
  const struct unwind_table *table = (const void *)frames->table.data;
  assert_int_equal(unwind_table_find(table, F)->cfa, UNWIND_CFA_SIGNAL);
  assert_int_equal(unwind_table_find(table, F)->offset, 0);
  assert_int_equal(unwind_table_find(table, G)->cfa, UNWIND_CFA_SIGNAL);
  assert_int_equal(unwind_table_find(table, G)->offset, -128);
}

static void unknown_augmentations_and_versions_are_refused(void **state) {
  struct frames *frames = *state;
  size_t odd = frames_cie(frames, "zRX", PROGRAM(0));
  size_t old = frames_cie(frames, "eh", PROGRAM(0));
  size_t without_bytes = frames_cie(frames, "R", PROGRAM(0));
  frames->version = 2;
  size_t version = frames_cie(frames, "zR", PROGRAM(0));
  frames->version = 1;
  frames_function(frames, odd, F, 0x10, PROGRAM(0));
  frames_function(frames, old, F + 0x10, 0x10, PROGRAM(0));
  frames_function(frames, version, F + 0x20, 0x10, PROGRAM(0));
  frames_function(frames, without_bytes, F + 0x30, 0x10, PROGRAM(0));
  frames_function(frames, frames_usual_cie(frames), G, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 4);
  assert_string_equal(frames->report.why, "a CIE with an unknown augmentation");
  assert_string_equal(frames_at(frames, F), "none");
  assert_string_equal(frames_at(frames, F + 0x20), "none");
  assert_string_equal(frames_at(frames, G), usual);
}

/* A function that refers to its CIE at offset CIE. */
static void read_with_cie_at(struct frames *frames, size_t at) {
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  frames_function(frames, at, F, 0x10, PROGRAM(0));
  frames_usual_cie(frames);
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 1);
  assert_string_equal(frames_at(frames, F), "none");
  assert_string_equal(frames_at(frames, G), usual);
}

static void a_cie_that_is_the_function_itself_is_refused(void **state) {
  struct frames *frames = *state;
  size_t cie = frames_usual_cie(frames), first = frames->bytes.len;
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  size_t itself = frames->bytes.len;
  reset(frames, EM_X86_64);
  read_with_cie_at(frames, itself);
  assert_string_equal(frames->report.why, "a function whose CIE is none");
  reset(frames, EM_X86_64);
  read_with_cie_at(frames, first); /* the other function's */
  assert_string_equal(frames->report.why, "a function whose CIE is none");
}

static void a_cie_behind_its_function_is_refused(void **state) {
  read_with_cie_at(*state, 10000);
  assert_string_equal(((struct frames *)*state)->report.why,
                      "a function whose CIE is not before it");
}

static void a_cie_further_on_in_debug_frame_is_refused(void **state) {
  struct frames *frames = *state;
  frames->is_debug = true;
  frames->encoding = 0;
  frames_function(frames, 0, F, 0x10, PROGRAM(0));
  size_t behind = frames->bytes.len;
  reset(frames, EM_X86_64);
  frames->is_debug = true;
  frames->encoding = 0;
  frames_function(frames, behind, F, 0x10, PROGRAM(0));
  assert_int_equal(frames_usual_cie(frames), behind);
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 1);
  assert_string_equal(frames->report.why, "a function whose CIE is not before it");
}

static void a_cie_in_the_middle_of_things_is_refused(void **state) {
  read_with_cie_at(*state, 3);
}

static void an_end_in_the_middle_is_the_end_of_eh_frame_alone(void **state) {
  for (unsigned i = 0; i < 2; i++) {
    reset(*state, EM_X86_64);
    struct frames *frames = *state;
    frames->is_debug = i == 1;
    if (frames->is_debug) frames->encoding = 0;
    size_t cie = frames_usual_cie(frames);
    frames_function(frames, cie, F, 0x10, PROGRAM(0));
    buf_append(&frames->bytes, "\0\0\0\0", 4);
    frames_function(frames, cie, G, 0x10, PROGRAM(0));
    frames_read(frames);
    assert_string_equal(frames_at(frames, F), usual);
    assert_string_equal(frames_at(frames, G), frames->is_debug ? usual : "none");
  }
}

static void a_length_beyond_the_section_ends_it(void **state) {
  static const uint8_t lengths[][12] = {
      {0xff, 0xff, 0xff, 0x7f},
      {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 1, 0, 0, 0},
      {0xf0, 0xff, 0xff, 0xff},
      {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    reset(*state, EM_X86_64);
    struct frames *frames = *state;
    frames_function(frames, frames_usual_cie(frames), F, 0x10, PROGRAM(0));
    buf_append(&frames->bytes, lengths[i], sizeof lengths[i]);
    frames_read(frames);
    assert_string_equal(frames_at(frames, F), usual);
    assert_int_equal(frames->report.functions_refused, 1);
    assert_string_equal(frames->report.why, "an entry that reaches beyond its section");
  }
}

static void cut_entries_are_refused_one_by_one(void **state) {
  struct frames *frames = *state;
  size_t cie = frames_usual_cie(frames);
  buf_append(&frames->bytes, (const uint8_t[]){2, 0, 0, 0, 1, 0}, 6); /* no room for an id */
  uint8_t back = (uint8_t)(frames->bytes.len + 4 - cie);
  buf_append(&frames->bytes, (const uint8_t[]){9, 0, 0, 0, back, 0, 0, 0, 1, 2, 3, 4, 5}, 13);
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 2);
  assert_string_equal(frames->report.why, "an entry that is cut");
  assert_string_equal(frames_at(frames, G), usual);
}

static void functions_that_were_thrown_away_are_no_error(void **state) {
  struct frames *frames = *state;
  frames->is_debug = true;
  frames->encoding = 0;
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, 0, 0x100, PROGRAM(0));
  frames_function(frames, cie, 1, 0x100, PROGRAM(0));
  frames_function(frames, cie, UINT64_MAX, 0x100, PROGRAM(0));
  frames_function(frames, cie, UINT64_MAX - 1, 0x100, PROGRAM(0));
  frames_function(frames, cie, F, 0, PROGRAM(0));
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 0);
  assert_string_equal(frames_at(frames, F), "none");
  assert_string_equal(frames_at(frames, G), usual);
}

static void functions_outside_of_the_code_are_refused(void **state) {
  struct frames *frames = *state;
  frames->encoding = 0;
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, CODE_HIGH - 1, 2, PROGRAM(0));
  frames_function(frames, cie, F, UINT64_MAX - 8, PROGRAM(0));
  frames_function(frames, cie, G, 0x10, PROGRAM(0));
  frames_read(frames);
  assert_int_equal(frames->report.functions_refused, 2);
  assert_string_equal(frames->report.why, "a function outside of the module's code");
  assert_string_equal(frames_at(frames, G), usual);
}

static void of_functions_that_overlap_the_first_told_stays(void **state) {
  struct frames *frames = *state;
  size_t cie = frames_usual_cie(frames);
  frames_function(frames, cie, F + 8, 0x10, PROGRAM(0x0e, 16));
  frames_function(frames, cie, F, 0x10, PROGRAM(0x0e, 24));
  frames_function(frames, cie, F + 8, 0x10, PROGRAM(0x0e, 32));
  frames_read(frames);
  assert_int_equal(frames->report.functions_left, 2);
  assert_string_equal(frames_at(frames, F), "none");
  assert_string_equal(frames_at(frames, F + 8), "sp+16 c-8 u u");
}

/* More CIEs than are kept, in turn. */
static void many_cies_in_turn(void **state) {
  enum { CIES = 40, ROUNDS = 3 };
  struct frames *frames = *state;
  size_t cies[CIES];
  for (uint8_t i = 0; i < CIES; i++)
    cies[i] = frames_cie(frames, "zR", PROGRAM(0x0c, 7, i, 0x90, 1));
  for (unsigned i = 0; i < CIES * ROUNDS; i++)
    frames_function(frames, cies[i % CIES], F + 16 * i, 16, PROGRAM(0));
  frames_read(frames);
  for (unsigned i = 0; i < CIES * ROUNDS; i++) {
    const struct unwind_rule *rule =
        unwind_table_find((const void *)frames->table.data, F + 16 * i);
    assert_int_equal(rule->offset, i % CIES);
  }
}

int main(void) {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      CLAIM(addresses_are_written_in_many_ways),
      CLAIM(addresses_that_a_running_program_must_tell_are_refused),
      CLAIM(both_sections_both_lengths_all_versions),
      CLAIM(words_of_four_bytes),
      CLAIM(augmentations_of_exceptions_and_signals),
      CLAIM(an_augmentation_is_no_longer_than_anybody_needs),
      CLAIM(a_caller_that_a_handler_returns_to_is_no_neighbour),
      CLAIM(a_signals_frame_may_begin_elsewhere),
      CLAIM(unknown_augmentations_and_versions_are_refused),
      CLAIM(a_cie_that_is_the_function_itself_is_refused),
      CLAIM(a_cie_behind_its_function_is_refused),
      CLAIM(a_cie_further_on_in_debug_frame_is_refused),
      CLAIM(a_cie_in_the_middle_of_things_is_refused),
      CLAIM(an_end_in_the_middle_is_the_end_of_eh_frame_alone),
      CLAIM(a_length_beyond_the_section_ends_it),
      CLAIM(cut_entries_are_refused_one_by_one),
      CLAIM(functions_that_were_thrown_away_are_no_error),
      CLAIM(functions_outside_of_the_code_are_refused),
      CLAIM(of_functions_that_overlap_the_first_told_stays),
      CLAIM(many_cies_in_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
