/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search and the index give the result of a linear reading, over random lists with every
   oddity of real lists. */
#include "symbol_list/list_index.h"
#include "symbol_list/symbol_list.h"

#include "common/buf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LISTS = 200, LINES_MAX = 60, ADDRESS_STEP_MAX = 9 };

static uint64_t seed = 0x9e3779b97f4a7c15u;

static unsigned roll(unsigned sides) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (unsigned)(seed >> 33) % sides;
}

/* A single reading from the first line to the last. */
static int read_linearly(struct span text, uint64_t address, struct symbol_line *ret) {
  struct symbol_line line, best = {.size = 0};
  bool is_found = false;
  for (int error; (error = symbol_line_next(&text, &line)) != -ENOENT;) {
    if (error != 0 || symbol_line_rank(&line) == 0 || line.address > address) continue;
    bool is_nearer = !is_found || line.address > best.address;
    if (is_nearer || (line.address == best.address && symbol_line_compare(&line, &best) < 0))
      best = line;
    is_found = true;
  }
  if (!is_found || !symbol_list_reaches(&best, address)) return -ENOENT;
  *ret = best;
  return 0;
}

static void append_name(struct buf *ret) {
  static const char letters[] = "abc_:~$.<>[] ";
  unsigned len = roll(40) == 0 ? 3000 : 1 + roll(6);
  buf_append_byte(ret, 'f');
  for (unsigned i = 0; i < len; i++) buf_append_byte(ret, (uint8_t)letters[roll(13)]);
  buf_append_byte(ret, 'z');
}

static void append_oddity(struct buf *ret) {
  static const char *const lines[] = {"",
                                      "                 U printf",
                                      "heading:",
                                      "10",
                                      "\t \t",
                                      "0000000000000005 a absolute",
                                      "0000000000000003 t $x",
                                      "0000000000000004 t .L12"};
  buf_append_string(ret, lines[roll(8)]);
}

/* A list of up to LINES_MAX lines from address BASE on; in order, or not. */
static void make_list(struct buf *ret, uint64_t base, bool is_sorted) {
  static const char types[] = "TtWwiDdBbRrVv";
  unsigned count = roll(LINES_MAX);
  uint64_t address = base;
  buf_clear(ret);
  for (unsigned i = 0; i < count; i++) {
    address += roll(3) ? roll(ADDRESS_STEP_MAX) : 0;
    uint64_t shown = is_sorted ? address : base + roll(300);
    if (roll(4) == 0) {
      append_oddity(ret);
    } else {
      buf_printf(ret, roll(2) ? "%016llx " : "0x%llx\t", (unsigned long long)shown);
      if (roll(4) == 0) buf_printf(ret, "%016x ", roll(12));
      buf_printf(ret, "%c ", types[roll(13)]);
      append_name(ret);
      if (roll(8) == 0) buf_append_string(ret, "\t[e1000]");
    }
    bool is_last = i + 1 == count;
    if (!is_last || roll(2)) buf_append_string(ret, roll(3) ? "\n" : "\r\n");
  }
}

static void assert_same(int wanted_error, const struct symbol_line *wanted, int error,
                        const struct symbol_line *line) {
  assert_int_equal(error, wanted_error);
  if (error != 0) return;
  assert_true(line->address == wanted->address);
  assert_true(span_is_equal(line->name, wanted->name));
  assert_true(span_is_equal(line->module, wanted->module));
}

static void check_list(struct span text, uint64_t base, bool is_sorted) {
  struct buf bytes = {0};
  struct list_index index;
  assert_int_equal(list_index_build(text, &bytes), 0);
  assert_int_equal(list_index_parse(buf_span(&bytes), text, &index), 0);
  for (uint64_t address = base - 3; address != base + LINES_MAX * ADDRESS_STEP_MAX; address++) {
    struct symbol_line wanted, line;
    int error = read_linearly(text, address, &wanted);
    assert_same(error, &wanted, list_index_find(&index, address, &line), &line);
    if (is_sorted) assert_same(error, &wanted, symbol_list_find(text, address, &line), &line);
  }
  buf_fini(&bytes);
}

static void a_search_says_what_a_linear_reading_says(void **state) {
  static const uint64_t bases[] = {8, 0x401000, 0xffffffff81000000, 0xfffffffffffff000};
  struct buf list = {0};
  (void)state;
  for (unsigned i = 0; i < LISTS; i++) {
    uint64_t base = bases[roll(4)];
    bool is_sorted = roll(2) == 0;
    make_list(&list, base, is_sorted);
    uint8_t *exact = malloc(list.len + 1); /* so that a reader beyond its end is seen */
    assert_non_null(exact);
    if (list.len > 0) memcpy(exact, list.data, list.len);
    check_list(span_of(exact, list.len), base, is_sorted);
    free(exact);
  }
  buf_fini(&list);
}

static void assert_finds(const char *list, uint64_t address, const char *name) {
  struct symbol_line line;
  int error = symbol_list_find(span_of_string(list), address, &line);
  if (name == NULL) {
    assert_int_equal(error, -ENOENT);
    return;
  }
  assert_int_equal(error, 0);
  assert_true(span_is_equal(line.name, span_of_string(name)));
}

static void both_ends_are_exact(void **state) {
  static const char list[] = "10 T first\n20 T middle\n30 T last";
  (void)state;
  assert_finds("", 0, NULL);
  assert_finds(list, 0xf, NULL);
  assert_finds(list, 0x10, "first");
  assert_finds(list, 0x1f, "first");
  assert_finds(list, 0x2f, "middle");
  assert_finds(list, 0x30, "last");
  assert_finds(list, 0x30 + SYMBOL_LIST_REACH_MAX - 1, "last");
  assert_finds(list, 0x30 + SYMBOL_LIST_REACH_MAX, NULL);
  assert_finds("0 T zero", 0, "zero");
  assert_finds("ffffffffffffffff T top\n", UINT64_MAX, "top");
}

static void a_size_ends_a_function_and_the_best_of_aliases_names_it(void **state) {
  static const char list[] = "10 0000000000000004 t __local\n10 04 W weak\n10 04 T _global\n"
                             "10 04 T global\n20 d table\n24 t after\n";
  (void)state;
  assert_finds(list, 0x13, "global");
  assert_finds(list, 0x14, NULL);
  assert_finds(list, 0x20, "table"); /* it bounds the symbol before it */
  assert_finds(list, 0x24, "after");
}

static void disorder_and_hidden_addresses_are_seen(void **state) {
  (void)state;
  struct symbol_list_shape shape =
      symbol_list_look(span_of_string("1 T a\n2 T b\n\n2 T c\n1 T d\n"));
  assert_int_equal(shape.symbol_count, 4);
  assert_int_equal(shape.disorder_line, 5);
  assert_true(shape.has_addresses);
  shape = symbol_list_look(span_of_string("0 T a\n0 T b\n"));
  assert_false(shape.has_addresses);
  assert_int_equal(shape.disorder_line, 0);
}

static void a_symbol_gives_its_lowest_address(void **state) {
  uint64_t address;
  struct span list = span_of_string("9 T twice\n5 t twice\n7 t twice\n1 T once\n");
  (void)state;
  assert_int_equal(symbol_list_address_of(list, span_of_string("twice"), &address), 0);
  assert_int_equal(address, 5);
  assert_int_equal(symbol_list_address_of(list, span_of_string("never"), &address), -ENOENT);
}

static void an_index_of_another_text_is_refused(void **state) {
  struct span list = span_of_string("10 T first\n20 T last\n"), other = list;
  struct buf bytes = {0};
  struct list_index index;
  (void)state;
  assert_int_equal(list_index_build(list, &bytes), 0);
  other.len--;
  assert_int_equal(list_index_parse(buf_span(&bytes), other, &index), -ESTALE);
  other = span_of_string("10 T first\n20 T LAST\n");
  assert_int_equal(list_index_parse(buf_span(&bytes), other, &index), -ESTALE);
  assert_int_equal(list_index_parse(span_of(bytes.data, bytes.len - 1), list, &index), -EBADMSG);
  bytes.data[0] ^= 1;
  assert_int_equal(list_index_parse(buf_span(&bytes), list, &index), -EBADMSG);
  buf_fini(&bytes);
}

static void a_record_that_lies_finds_nothing(void **state) {
  struct span list = span_of_string("10 T first\n20 T last\n");
  struct buf bytes = {0};
  struct list_index index;
  struct symbol_line line;
  (void)state;
  assert_int_equal(list_index_build(list, &bytes), 0);
  bytes.data[24 + 8] = 11; /* the first record's offset: the line of 20 */
  assert_int_equal(list_index_parse(buf_span(&bytes), list, &index), 0);
  assert_int_equal(list_index_find(&index, 0x11, &line), -ENOENT);
  assert_int_equal(list_index_find(&index, 0x21, &line), 0);
  bytes.data[24 + 16 + 8] = 0; /* the last one's: the line of 10 */
  assert_int_equal(list_index_find(&index, 0x21, &line), -ENOENT);
  bytes.data[24 + 8] = 200; /* beyond the text */
  assert_int_equal(list_index_find(&index, 0x11, &line), -ENOENT);
  buf_fini(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_search_says_what_a_linear_reading_says),
      cmocka_unit_test(both_ends_are_exact),
      cmocka_unit_test(a_size_ends_a_function_and_the_best_of_aliases_names_it),
      cmocka_unit_test(disorder_and_hidden_addresses_are_seen),
      cmocka_unit_test(a_symbol_gives_its_lowest_address),
      cmocka_unit_test(an_index_of_another_text_is_refused),
      cmocka_unit_test(a_record_that_lies_finds_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
