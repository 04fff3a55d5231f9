/* SPDX-License-Identifier: Apache-2.0 */
/* Rows survive the way to disk and back; damage is noticed. */
#include "store/block.h"

#include "common/buf.h"
#include "proto/compress.h"
#include "store/store_read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_round_trip(const struct store_row *rows, size_t count, size_t max_bytes) {
  struct buf columns = {0}, packed = {0}, again = {0};
  struct packer packer = {0};
  struct store_row *out = calloc(count + 1, sizeof *out);
  assert_non_null(out);
  assert_int_equal(block_encode(rows, count, &columns), 0);
  assert_int_equal(block_pack(&packer, buf_span(&columns), &packed), 0);
  assert_true(packed.len <= columns.len);
  if (packed.len > max_bytes) print_error("%zu bytes\n", packed.len);
  assert_true(packed.len <= max_bytes);
  assert_int_equal(block_unpack(&packer, buf_span(&packed), columns.len, &again), 0);
  assert_true(span_is_equal(buf_span(&again), buf_span(&columns)));
  assert_int_equal(block_decode(buf_span(&again), out, count), count);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(out[i].node, rows[i].node);
    assert_true(out[i].count == rows[i].count && out[i].weight == rows[i].weight);
  }
  packer_fini(&packer);
  buf_fini(&columns);
  buf_fini(&packed);
  buf_fini(&again);
  free(out);
}

static void rows_come_back_as_they_were(void **state) {
  (void)state;
  const struct store_row rows[] = {{1, 1, 10101010},          {2, 3, 30303030}, {900, 1, 10101010},
                                   {901, 1, 123456789012345}, {901, 7, 70},     {4000000, 0, 5}};
  for (size_t count = 0; count <= 6; count++) assert_round_trip(rows, count, 1000);
}

static void extreme_numbers_come_back_too(void **state) {
  (void)state;
  const struct store_row rows[] = {{0, UINT64_MAX, UINT64_MAX},
                                   {1, UINT64_MAX, 0},
                                   {2, 0, UINT64_MAX},
                                   {UINT32_MAX - 1, 3, 1ULL << 63}};
  assert_round_trip(rows, 4, 1000);
}

static void a_window_at_a_fixed_rate_takes_few_bytes_a_row(void **state) {
  (void)state;
  struct store_row rows[370];
  uint32_t node = 0;
  srand(3);
  for (size_t i = 0; i < 370; i++) {
    node += 1 + (uint32_t)rand() % 8;
    uint64_t count = rand() % 4 == 0 ? 2 : 1;
    rows[i] = (struct store_row){node, count, count * 10101010};
  }
  assert_round_trip(rows, 370, 370);
}

/* COUNT rows of some records each, at varied periods in quarters of QUARTER_NS, as a daemon varies
   them (targets/rate.c). */
static void make_quarters(struct store_row *rows, size_t count, uint64_t quarter_ns) {
  uint32_t node = 0;
  srand(3);
  for (size_t i = 0; i < count; i++) {
    node += 1 + (uint32_t)rand() % 8;
    uint64_t records = 1 + (uint64_t)rand() % 4;
    rows[i] = (struct store_row){node, records, 0};
    for (uint64_t j = 0; j < records; j++)
      rows[i].weight += (3 + (uint64_t)rand() % 3) * quarter_ns;
  }
}

static void varied_periods_in_quarters_take_hardly_more_than_a_fixed_rate(void **state) {
  (void)state;
  enum { QUARTER_NS = 2525252 };
  struct store_row rows[370];
  make_quarters(rows, 370, QUARTER_NS);
  assert_round_trip(rows, 370, 520);
  for (size_t i = 0; i < 370; i += 9) { /* measured by clocks: one in nine */
    rows[i].count = 0;
    rows[i].weight = 1234567 + i * 1001;
  }
  assert_round_trip(rows, 370, 740);
  rows[1].weight += 77; /* records that have nothing in common with the others, the first as well */
  rows[200].weight += 1;
  assert_round_trip(rows, 370, 790);
}

static void where_records_have_nothing_in_common_rows_come_back_all_the_same(void **state) {
  (void)state;
  struct store_row rows[100];
  for (unsigned odd = 0; odd <= 100; odd += 10) {
    make_quarters(rows, 100, 2525252);
    for (size_t i = 0; i < odd; i++) rows[i * 37 % 100].weight += 1 + (uint64_t)rand() % 1048576;
    assert_round_trip(rows, 100, 700);
  }
}

static void a_window_of_varied_periods_takes_little_more_than_their_noise(void **state) {
  (void)state;
  struct store_row rows[370];
  uint32_t node = 0;
  srand(3);
  for (size_t i = 0; i < 370; i++) {
    node += 1 + (uint32_t)rand() % 8;
    uint64_t count = rand() % 4 == 0 ? 2 : 1;
    rows[i] = (struct store_row){node, count, count * 9600000 + (uint64_t)rand() % 1048576};
  }
  assert_round_trip(rows, 370, 1330); /* 3.6 bytes a row: 21 bits of noise, node and count */
}

static void columns_of_the_first_version_are_read(void **state) {
  (void)state;
  const uint8_t old[] = {1, 2, 7, 1, 1, 3, 1, 0, 2}; /* the second weighs one more than 7 */
  struct store_row rows[2];
  assert_int_equal(block_decode(span_of(old, sizeof old), rows, 2), 2);
  assert_int_equal(rows[0].node, 1);
  assert_int_equal(rows[0].weight, 21);
  assert_int_equal(rows[1].node, 2);
  assert_int_equal(rows[1].count, 1);
  assert_int_equal(rows[1].weight, 8);
}

static void columns_of_the_second_version_are_read(void **state) {
  (void)state;
  const uint8_t plain[] = {2, 2, 7, 0, 1, 1, 3, 1, 0, 0};
  const uint8_t with_low[] = {2, 2, 7, 1, 1, 1, 3, 1, 0, 2, 2, 0, 1, 0};
  struct store_row rows[2];
  assert_int_equal(block_decode(span_of(plain, sizeof plain), rows, 2), 2);
  assert_int_equal(rows[0].weight, 21);
  assert_int_equal(rows[1].weight, 7);
  assert_int_equal(block_decode(span_of(with_low, sizeof with_low), rows, 2), 2);
  assert_int_equal(rows[0].weight, 22);
  assert_int_equal(rows[1].weight, 7 - 1 - 65536);
  const uint8_t beyond[] = {2, 1, 7, 0, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
  assert_int_equal(block_decode(span_of(beyond, sizeof beyond), rows, 2), -EBADMSG);
}

static void damaged_columns_are_refused(void **state) {
  (void)state;
  const struct store_row rows[] = {{1, 1, 7}, {2, 1, 7}};
  struct store_row out[4];
  struct buf columns = {0};
  assert_int_equal(block_encode(rows, 2, &columns), 0);
  for (size_t len = 0; len < columns.len; len++)
    assert_int_equal(block_decode(span_of(columns.data, len), out, 4), -EBADMSG);
  assert_int_equal(block_decode(buf_span(&columns), out, 1), -EOVERFLOW);
  buf_append_byte(&columns, 0);
  assert_int_equal(block_decode(buf_span(&columns), out, 4), -EBADMSG); /* something follows */
  columns.len--;
  columns.data[5] = 0; /* the second node's delta: the same node again */
  assert_int_equal(block_decode(buf_span(&columns), out, 4), 2);
  assert_int_equal(out[1].node, 1);
  columns.data[0] = 9;
  assert_int_equal(block_decode(buf_span(&columns), out, 4), -EBADMSG);
  buf_fini(&columns);
}

static void columns_are_read_alike_wherever_long_cells_stand_among_short_ones(void **state) {
  (void)state;
  struct store_row rows[40];
  for (unsigned at = 0; at < 40; at++) {
    uint32_t node = 0;
    for (unsigned i = 0; i < 40; i++) {
      node += i == at ? 200 : 3;
      rows[i] = (struct store_row){node, i == at ? 300 : 1, 10101010};
      rows[i].weight *= rows[i].count;
      if (i == at / 2) rows[i].weight += UINT64_C(1) << 40; /* a long residue */
    }
    assert_round_trip(rows, 40, 400);
  }
}

static void columns_that_are_cut_or_count_past_32_bits_are_refused(void **state) {
  (void)state;
  struct store_row rows[41], out[41];
  struct buf columns = {0};
  for (uint32_t i = 0; i < 41; i++) rows[i] = (struct store_row){UINT32_MAX - 100 + 2 * i, 1, 7};
  assert_int_equal(block_encode(rows, 41, &columns), 0);
  assert_int_equal(block_decode(buf_span(&columns), out, 41), 41);
  for (size_t i = 0; i < 41; i++) assert_int_equal(out[i].node, rows[i].node);
  for (size_t len = 0; len < columns.len; len++)
    assert_int_equal(block_decode(span_of(columns.data, len), out, 41), -EBADMSG);
  for (size_t i = 9; i < 9 + 40; i++) columns.data[i] = 3; /* after head and the first node */
  assert_int_equal(block_decode(buf_span(&columns), out, 41), -EBADMSG);
  buf_fini(&columns);
}

static void bytes_that_are_not_zstd_are_refused(void **state) {
  (void)state;
  struct packer packer = {0};
  struct buf out = {0};
  assert_int_equal(block_unpack(&packer, span_of_string("not zstd"), 100, &out), -EBADMSG);
  assert_int_equal(
      block_unpack(&packer, span_of_string("not zstd"), (size_t)BLOCK_BYTES_MAX + 1, &out),
      -EOVERFLOW);
  packer_fini(&packer);
  buf_fini(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_come_back_as_they_were),
      cmocka_unit_test(extreme_numbers_come_back_too),
      cmocka_unit_test(a_window_at_a_fixed_rate_takes_few_bytes_a_row),
      cmocka_unit_test(a_window_of_varied_periods_takes_little_more_than_their_noise),
      cmocka_unit_test(varied_periods_in_quarters_take_hardly_more_than_a_fixed_rate),
      cmocka_unit_test(where_records_have_nothing_in_common_rows_come_back_all_the_same),
      cmocka_unit_test(columns_of_the_first_version_are_read),
      cmocka_unit_test(columns_of_the_second_version_are_read),
      cmocka_unit_test(damaged_columns_are_refused),
      cmocka_unit_test(bytes_that_are_not_zstd_are_refused),
      cmocka_unit_test(columns_are_read_alike_wherever_long_cells_stand_among_short_ones),
      cmocka_unit_test(columns_that_are_cut_or_count_past_32_bits_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
