/* SPDX-License-Identifier: Apache-2.0 */
/* Stripped libraries with a packed symbol table, as Fedora's build makes them, and damaged ones. */
#include "elf_fixture.h"

#include "symbol/index_builder.h"
#include "symbol/packed_symbols.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <lzma.h>

static void pack(struct span plain, struct buf *ret) {
  size_t room = lzma_stream_buffer_bound(plain.len), len = 0;
  uint8_t *to = buf_reserve(ret, room);
  assert_non_null(to);
  assert_int_equal(
      lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, plain.data, plain.len, to, &len, room),
      LZMA_OK);
  ret->len = len;
}

/* packed.so: lib.so stripped, its local functions in BYTES. */
static void make_packed(struct span bytes) {
  fixture_write("section", bytes.data, bytes.len);
  fixture_run("strip -o stripped.so lib.so && "
              "objcopy --add-section .gnu_debugdata=section stripped.so packed.so");
}

/* lib.so, and in RET the packed symbol table of its local functions. */
static void make_library(struct buf *ret) {
  fixture_make_library("");
  fixture_run("echo inner >kept && objcopy --only-keep-debug lib.so lib.debug && "
              "objcopy -S --keep-symbols=kept lib.debug mini");
  struct span mini = fixture_read("mini");
  pack(mini, ret);
  fixture_free(mini);
}

struct named {
  struct index_summary summary;
  char why[256];
  bool has_inner, has_outer;
};

/* Whether the index has a symbol NAME. */
static bool has_name(const struct symbol_index *index, const char *name) {
  struct symbol_match match;
  for (uint32_t i = 0; i < index->block_count; i++) {
    struct row_reader reader;
    row_reader_init(&reader, index->rows, &index->blocks[i]);
    while (row_reader_next(&reader))
      if (symbol_index_find(index, reader.address, &match) == 0 && strcmp(match.name, name) == 0)
        return true;
  }
  return false;
}

static struct named read_library(void) {
  struct named named;
  struct buf bytes = {0};
  struct symbol_index index;
  struct span elf = fixture_read("packed.so");
  assert_int_equal(index_builder_build(elf, INDEX_SYMBOLS_ONLY, &bytes, &named.summary, named.why,
                                       sizeof named.why),
                   0);
  assert_int_equal(symbol_index_parse(buf_span(&bytes), &index), 0);
  assert_int_equal(symbol_index_verify(&index), 0);
  named.has_inner = has_name(&index, "inner");
  named.has_outer = has_name(&index, "outer");
  symbol_index_fini(&index);
  buf_fini(&bytes);
  fixture_free(elf);
  return named;
}

static void local_functions_are_named_beside_exported_ones(void **state) {
  (void)state;
  struct buf packed = {0};
  make_library(&packed);
  make_packed(buf_span(&packed));
  struct named named = read_library();
  assert_true(named.has_inner);
  assert_true(named.has_outer);
  assert_true(named.summary.image.has_symtab);
  assert_string_equal(named.why, "");
  buf_fini(&packed);
}

static void a_spoiled_one_costs_itself_only(void **state) {
  (void)state;
  struct buf packed = {0};
  make_library(&packed);
  const size_t lens[] = {packed.len / 2, 5, packed.len - 1};
  for (size_t i = 0; i < 3; i++) {
    make_packed(span_of(packed.data, lens[i]));
    struct named named = read_library();
    assert_false(named.has_inner);
    assert_true(named.has_outer);
    assert_false(named.summary.image.has_symtab);
    assert_non_null(strstr(named.why, ".gnu_debugdata"));
  }
  buf_clear(&packed);
  pack(span_of_string("no ELF file"), &packed);
  make_packed(buf_span(&packed));
  assert_non_null(strstr(read_library().why, ".gnu_debugdata"));
  buf_fini(&packed);
}

static void a_stream_that_unpacks_to_too_much_is_given_up(void **state) {
  (void)state;
  size_t len = PACKED_SYMBOLS_BYTES_MAX + (1 << 20);
  struct buf packed = {0}, unpacked = {0};
  void *zeros = calloc(1, len);
  assert_non_null(zeros);
  pack(span_of(zeros, len), &packed);
  free(zeros);
  assert_int_equal(packed_symbols_unpack(buf_span(&packed), &unpacked), -EOVERFLOW);
  assert_true(unpacked.len < len);
  buf_fini(&packed);
  buf_fini(&unpacked);
}

static void a_stream_that_wants_much_memory_is_refused(void **state) {
  (void)state;
  static const uint8_t lzma2[] = {0x21, 1}; /* then how long its dictionary is */
  enum { HEADER = 12, FOUR_GIB = 40 };
  struct buf packed = {0}, unpacked = {0};
  pack(span_of_string("something"), &packed);
  uint8_t *header = packed.data + HEADER;
  size_t header_bytes = (header[0] + 1U) * 4;
  uint8_t *found = memmem(header, header_bytes, lzma2, sizeof lzma2);
  assert_non_null(found);
  found[2] = FOUR_GIB;
  uint32_t crc = lzma_crc32(header, header_bytes - 4, 0);
  memcpy(header + header_bytes - 4, &crc, 4);
  assert_int_equal(packed_symbols_unpack(buf_span(&packed), &unpacked), -EOVERFLOW);
  buf_fini(&packed);
  buf_fini(&unpacked);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(local_functions_are_named_beside_exported_ones),
      cmocka_unit_test(a_spoiled_one_costs_itself_only),
      cmocka_unit_test(a_stream_that_unpacks_to_too_much_is_given_up),
      cmocka_unit_test(a_stream_that_wants_much_memory_is_refused),
  };
  return cmocka_run_group_tests(tests, fixture_set_up, fixture_tear_down);
}
