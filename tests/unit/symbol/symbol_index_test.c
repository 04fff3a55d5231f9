/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_fixture.h"

#include "common/buf.h"
#include "symbol/alias_name.h"
#include "symbol/false_name.h"
#include "symbol/index_file.h"
#include "symbol/symbol_index.h"

#include <errno.h>
#include <sys/mman.h>

/* A small index laid out by hand: a [0x100,0x140) with b inlined at [0x110,0x120), and the symbol
   c [0x200,0x210).  Only b has a name that was made readable. */
struct small {
  struct index_header header;
  struct index_section sections[9];
  struct index_block blocks[1];
  _Alignas(8) struct index_function functions[2];
  _Alignas(8) uint32_t files[2];
  _Alignas(8) uint8_t nodes[16];
  uint8_t rows[32];
  _Alignas(8) struct index_text_block texts[1];
  _Alignas(8) uint8_t strings[64]; /* packed */
  _Alignas(8) struct index_alias aliases[3];
};

static const char sound_strings[21] = "\0a\0b()\0_Zb\0c\0x.c\0y.h";

static struct small make_with(const char strings[sizeof sound_strings]) {
  struct small small = {
      .header = {.magic = INDEX_MAGIC,
                 .version = INDEX_VERSION,
                 .order = INDEX_ORDER,
                 .file_bytes = sizeof(struct small),
                 .section_count = 9},
      .sections = {{99, 1, 0, 1},
                   {INDEX_BLOCKS, 16, offsetof(struct small, blocks), 16},
                   {INDEX_FUNCTIONS, 10, offsetof(struct small, functions), 20},
                   {INDEX_FILES, 4, offsetof(struct small, files), 8},
                   {INDEX_NODES, 1, offsetof(struct small, nodes), 12},
                   {INDEX_ROWS, 1, offsetof(struct small, rows), 20},
                   {INDEX_TEXTS, 8, offsetof(struct small, texts), 8},
                   {INDEX_STRINGS, 1, offsetof(struct small, strings), 0},
                   {INDEX_ALIASES, 8, offsetof(struct small, aliases), 24}},
      .blocks = {{0x100, 0, 0}},
      .functions = {{1 << 1, 1, 10}, {3 << 1 | 1, 2, 20}},
      .files = {13, 17},
      .nodes = {0, /* at 1, a: */ 5, 0, 0x40, /* at 4, b in it, called in line 15: */ 2, 3, 20,
                /* at 7, c: */ 3, 11 << 1, 0x80, 2, 0x10},
      .rows = {/* 0x100, line 11 in a */ 243,
               2,
               3,
               /* 0x110, line 21 in b */ 227,
               2,
               0x10,
               7,
               /* 0x120, line 12 in a */ 177,
               0x10,
               /* 0x128, line 13 in a */ 74,
               /* 0x140, a gap */ 219,
               3,
               0x18,
               0,
               /* 0x200, c */ 163,
               0xc0,
               1,
               7,
               /* 0x210, a gap */ 161,
               0x10},
  };
  struct buf directory = {0}, packed = {0};
  struct span plain = span_of(strings, sizeof sound_strings);
  assert_int_equal(index_texts_pack(plain, INDEX_TEXTS_SMALL, &directory, &packed), 0);
  assert_true(packed.len <= sizeof small.strings && directory.len == sizeof small.texts);
  memcpy(small.texts, directory.data, directory.len);
  memcpy(small.strings, packed.data, packed.len);
  static const char *const others[] = {"_a", "__a", "c_too"};
  for (int i = 0; i < 3; i++)
    small.aliases[i] =
        (struct index_alias){i < 2 ? 0 : 0x100, alias_name_hash(span_of_string(others[i]))};
  small.sections[7].bytes = packed.len;
  buf_fini(&directory);
  buf_fini(&packed);
  return small;
}

static struct small make_sound(void) {
  return make_with(sound_strings);
}

static int parse(const struct small *small, struct symbol_index *ret) {
  symbol_index_fini(ret);
  return symbol_index_parse(span_of(small, sizeof *small), ret);
}

static void each_address_gets_its_symbol(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  assert_int_equal(parse(&small, &index), 0);
  assert_int_equal(symbol_index_verify(&index), 0);
  const struct {
    uint64_t address;
    const char *name;
  } truth[] = {{0, NULL},    {0xff, NULL}, {0x100, "a"},  {0x10f, "a"},      {0x110, "a"},
               {0x11f, "a"}, {0x120, "a"}, {0x13f, "a"},  {0x140, NULL},     {0x1ff, NULL},
               {0x200, "c"}, {0x20f, "c"}, {0x210, NULL}, {UINT64_MAX, NULL}};
  for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
    struct symbol_match match;
    int error = symbol_index_find(&index, truth[i].address, &match);
    assert_int_equal(error, truth[i].name != NULL ? 0 : -ENOENT);
    if (error == 0) assert_string_equal(match.name, truth[i].name);
  }
  symbol_index_fini(&index);
}

static void the_last_name_before_an_address_is_found(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  struct symbol_frame frame;
  assert_int_equal(parse(&small, &index), 0);
  const struct {
    uint64_t address;
    const char *name;
  } truth[] = {{0, NULL},    {0x100, NULL}, {0x101, "a"},     {0x130, "a"},
               {0x200, "a"}, {0x201, "c"},  {UINT64_MAX, "c"}};
  for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
    int error = symbol_index_before(&index, truth[i].address, &frame);
    assert_int_equal(error, truth[i].name != NULL ? 0 : -ENOENT);
    if (error == 0) assert_string_equal(frame.name, truth[i].name);
  }
  symbol_index_fini(&index);
}

/* c has a name, and then only its bounds are known. */
static void a_name_that_ends_before_an_address_is_false_there(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  const struct symbol_frame a = {.name = "a"}, versioned = {.name = "a@@V_1.2"},
                            other = {.name = "ab"}, of_a_line = {.name = "a", .file = "x.c"},
                            own = {.name = "c@V_1"}, inlined = {.name = "_Zb"};
  assert_int_equal(parse(&small, &index), 0);
  assert_true(false_name_is(&index, 0x205, &a));
  assert_false(false_name_is(&index, 0x205, &own));
  assert_false(false_name_is(&index, 0x205, &other)); /* no single owner: two opinions */
  assert_false(false_name_is(&index, 0x115, &inlined));
  assert_false(false_name_is(&index, 0x205, &of_a_line));
  small.nodes[8] = 0;
  assert_int_equal(parse(&small, &index), 0);
  assert_true(false_name_is(&index, 0x205, &a));
  assert_true(false_name_is(&index, 0x200, &versioned));
  assert_false(false_name_is(&index, 0x205, &other));
  assert_false(false_name_is(&index, 0x205, &of_a_line));
  assert_false(false_name_is(&index, 0x13f, &a)); /* it is a */
  assert_false(false_name_is(&index, 0x150, &a)); /* the owner is unknown */
  symbol_index_fini(&index);
}

/* _a and __a are a, and c_too is c. */
static void another_name_of_the_function_is_known_to_be_one(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  const struct symbol_frame a = {.name = "a"}, first = {.name = "_a"}, second = {.name = "__a@V_1"},
                            of_c = {.name = "c_too"}, none = {.name = "d"},
                            of_a_line = {.name = "_a", .file = "x.c"};
  assert_int_equal(parse(&small, &index), 0);
  assert_true(alias_name_is(&index, 0x100, &first));
  assert_true(alias_name_is(&index, 0x115, &first)); /* in a function inlined there */
  assert_true(alias_name_is(&index, 0x13f, &second));
  assert_true(alias_name_is(&index, 0x20f, &of_c));
  assert_false(alias_name_is(&index, 0x20f, &first));
  assert_false(alias_name_is(&index, 0x100, &of_c));
  assert_false(alias_name_is(&index, 0x100, &a));
  assert_false(alias_name_is(&index, 0x100, &none));
  assert_false(alias_name_is(&index, 0x100, &of_a_line));
  assert_false(alias_name_is(&index, 0x150, &first)); /* no function */
  small.sections[8].kind = 99;                        /* an index without them */
  assert_int_equal(parse(&small, &index), 0);
  assert_false(alias_name_is(&index, 0x100, &first));
  small.sections[8].kind = INDEX_ALIASES;
  small.sections[8].bytes = 12;
  assert_int_equal(parse(&small, &index), -EBADMSG);
}

/* The source calls it a, too. */
static void a_clone_is_its_function(void **state) {
  (void)state;
  static const char clone[sizeof sound_strings] = "\0a\0b()\0_Z\0a.1\0.c\0y.h";
  struct small small = make_with(clone);
  struct symbol_index index = {0};
  const struct symbol_frame a = {.name = "a"};
  small.nodes[8] = 10 << 1; /* c is a.1 */
  assert_int_equal(parse(&small, &index), 0);
  assert_false(false_name_is(&index, 0x205, &a));
  symbol_index_fini(&index);
}

static void check_frame(const struct symbol_frame *frame, const char *text) {
  char told[128];
  snprintf(told, sizeof told, "%s %s:%u %s:%u 0x%llx+0x%llx", frame->name,
           frame->file == NULL ? "-" : frame->file, frame->line,
           frame->decl_file == NULL ? "-" : frame->decl_file, frame->decl_line,
           (unsigned long long)frame->start, (unsigned long long)frame->size);
  assert_string_equal(told, text);
}

static void a_chain_has_each_function_with_its_place(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  struct symbol_cursor cursor;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  assert_int_equal(parse(&small, &index), 0);
  symbol_cursor_init(&cursor, &index);
  for (int by_cursor = 0; by_cursor < 2; by_cursor++) {
#define CHAIN(address)                                       \
  (by_cursor ? symbol_cursor_chain(&cursor, address, frames) \
             : symbol_index_chain(&index, address, frames))
    assert_int_equal(CHAIN(0x10f), 1);
    check_frame(&frames[0], "a x.c:11 x.c:10 0x100+0x40");
    assert_int_equal(CHAIN(0x110), 2);
    check_frame(&frames[0], "b() y.h:21 y.h:20 0x100+0x40");
    check_frame(&frames[1], "a x.c:15 x.c:10 0x100+0x40");
    assert_int_equal(CHAIN(0x127), 1);
    check_frame(&frames[0], "a x.c:12 x.c:10 0x100+0x40");
    assert_int_equal(CHAIN(0x13f), 1);
    check_frame(&frames[0], "a x.c:13 x.c:10 0x100+0x40");
    assert_int_equal(CHAIN(0x20f), 1);
    check_frame(&frames[0], "c -:0 -:0 0x200+0x10");
    assert_int_equal(CHAIN(0xff), -ENOENT);
    assert_int_equal(CHAIN(0x140), -ENOENT);
    assert_int_equal(CHAIN(0x210), -ENOENT);
    assert_int_equal(CHAIN(UINT64_MAX), -ENOENT);
#undef CHAIN
  }
  symbol_index_fini(&index);
}

static void a_function_that_is_kept_ends_where_it_says(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  struct symbol_cursor cursor;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  small.nodes[3] = 0x18; /* rows go on beyond it */
  assert_int_equal(parse(&small, &index), 0);
  symbol_cursor_init(&cursor, &index);
  assert_int_equal(symbol_cursor_chain(&cursor, 0x100, frames), 1);
  assert_int_equal(symbol_cursor_chain(&cursor, 0x117, frames), 2);
  assert_int_equal(symbol_cursor_chain(&cursor, 0x118, frames), -ENOENT);
  assert_int_equal(symbol_cursor_chain(&cursor, 0x127, frames), -ENOENT);
  symbol_index_fini(&index);
}

static void a_readable_name_keeps_what_it_was_made_of(void **state) {
  (void)state;
  struct small small = make_sound();
  struct symbol_index index = {0};
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  assert_int_equal(parse(&small, &index), 0);
  assert_int_equal(symbol_index_chain(&index, 0x110, frames), 2);
  assert_string_equal(symbol_frame_system_name(&frames[0]), "_Zb");
  assert_string_equal(symbol_frame_system_name(&frames[1]), "a");
  small.functions[1].name = 17 << 1 | 1; /* nothing follows the last one */
  assert_int_equal(symbol_index_chain(&index, 0x110, frames), 2);
  assert_string_equal(symbol_frame_system_name(&frames[0]), "");
  symbol_index_fini(&index);
}

static void another_version_or_byte_order_is_told_apart_from_damage(void **state) {
  (void)state;
  struct symbol_index index = {0};
  struct small small = make_sound();
  small.header.version++;
  assert_int_equal(parse(&small, &index), -EPROTO);
  small.header.version -= 2;
  assert_int_equal(parse(&small, &index), -EPROTO);
  small = make_sound();
  small.header.order = 0x04030201;
  assert_int_equal(parse(&small, &index), -EPROTO);
  small.header.magic[0] = 'x';
  assert_int_equal(parse(&small, &index), -EBADMSG);
}

static void a_truncated_index_is_refused(void **state) {
  (void)state;
  struct symbol_index index = {0};
  struct small small = make_sound();
  for (size_t len = 0; len < sizeof small; len++)
    assert_int_equal(symbol_index_parse(span_of(&small, len), &index), -EBADMSG);
}

static void tables_out_of_bounds_are_refused(void **state) {
  (void)state;
  struct symbol_index index = {0};
  for (int section = 1; section < 8; section++) {
    for (int lie = 0; lie < 6; lie++) {
      struct small small = make_sound();
      struct index_section *at = &small.sections[section];
      if (lie == 0) at->offset = UINT64_MAX - 7;
      if (lie == 1) at->bytes = UINT64_MAX;
      if (lie == 2) at->entry_bytes = 5;
      if (lie == 3) at->offset += 1;
      if (lie == 4) at->kind = 77;
      if (lie == 5) at->bytes += at->entry_bytes * 1000;
      assert_int_equal(parse(&small, &index), -EBADMSG);
    }
  }
  struct small small = make_sound();
  small.sections[6].bytes = 0; /* no block of strings at all */
  assert_int_equal(parse(&small, &index), -EBADMSG);
}

static void strings_that_are_damaged_are_not_there(void **state) {
  (void)state;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  struct symbol_index index = {0};
  char endless[sizeof sound_strings];
  memcpy(endless, sound_strings, sizeof endless);
  endless[sizeof endless - 1] = 'x';
  for (int lie = 0; lie < 6; lie++) {
    struct small small = lie == 5 ? make_with(endless) : make_sound();
    if (lie == 0) small.strings[0] ^= 1;
    if (lie == 1) small.texts[0].bytes++;
    if (lie == 2) small.texts[0].bytes--;
    if (lie == 3) small.texts[0].offset = 1000;
    if (lie == 4) small.texts[0].bytes = UINT32_MAX;
    assert_int_equal(parse(&small, &index), 0);
    assert_int_equal(symbol_index_chain(&index, 0x100, frames), -ENOENT);
    assert_int_equal(symbol_index_verify(&index), -EBADMSG);
  }
  symbol_index_fini(&index);
}

/* A worker's result is accepted only after a complete check. */
static void a_file_that_lies_is_not_read(void **state) {
  (void)state;
  for (int lie = 0; lie < 2; lie++) {
    struct index_file file = {0};
    struct small small = make_sound();
    if (lie == 1) small.nodes[8] = 100; /* no such name */
    int fd = memfd_create("index", MFD_CLOEXEC);
    assert_int_equal(write(fd, &small, sizeof small), sizeof small);
    assert_int_equal(index_file_read(fd, &file), lie == 1 ? -EBADMSG : 0);
    assert_true((file.bytes.data == NULL) == (lie == 1));
    index_file_close(&file);
    close(fd);
  }
}

static void references_out_of_bounds_find_nothing_and_fail_the_check(void **state) {
  (void)state;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  for (int lie = 0; lie < 6; lie++) {
    struct symbol_index index = {0};
    struct small small = make_sound();
    if (lie == 0) small.nodes[8] = 100; /* no such name */
    if (lie == 1) small.nodes[8] = 8;   /* not where a name begins */
    if (lie == 2) small.nodes[1] = 1;   /* neither a function nor a name */
    if (lie == 3) small.rows[2] = 101;  /* no such node */
    if (lie == 4) small.nodes[3] = 0;   /* nothing belongs to it */
    if (lie == 5) small.sections[4].bytes = 3;
    assert_int_equal(parse(&small, &index), 0);
    assert_int_equal(symbol_index_chain(&index, lie < 2 ? 0x200 : 0x100, frames), -ENOENT);
    assert_int_equal(symbol_index_verify(&index), -EBADMSG);
    symbol_index_fini(&index);
  }
}

static void a_node_cannot_be_inlined_into_itself_or_a_later_one(void **state) {
  (void)state;
  struct symbol_frame frames[SYMBOL_CHAIN_MAX];
  struct symbol_index index = {0};
  struct small small = make_sound();
  for (uint8_t back = 0; back < 255; back++) {
    small.nodes[5] = back;
    assert_int_equal(parse(&small, &index), 0);
    int count = symbol_index_chain(&index, 0x110, frames);
    assert_true(count == -ENOENT || (back > 0 && back < 4));
    assert_true(back != 3 || count == 2);
    /* A sound index has a whole chain: callers are checked too, even if no row refers to them. */
    assert_int_equal(symbol_index_verify(&index), back == 3 ? 0 : -EBADMSG);
  }
  symbol_index_fini(&index);
}

static void the_check_finds_disorder_and_dirty_names(void **state) {
  (void)state;
  for (int lie = 0; lie < 6; lie++) {
    struct symbol_index index = {0};
    struct small small = lie == 4 ? make_with("\0a\0b()\0_Zb\0c\0x\nc\0y.h") : make_sound();
    if (lie == 0) small.rows[5] = 0; /* two rows at one address */
    if (lie == 1) small.files[0] = 8;
    if (lie == 2) small.functions[0].decl_file = 3;
    if (lie == 3) small.functions[1].name = 2 << 1;
    if (lie == 5) small.sections[5].bytes = 18; /* no gap at the end */
    assert_int_equal(parse(&small, &index), 0);
    assert_int_equal(symbol_index_verify(&index), -EBADMSG);
    symbol_index_fini(&index);
  }
}

static void bytes_that_are_not_aligned_are_refused(void **state) {
  (void)state;
  struct symbol_index index = {0};
  static _Alignas(8) uint8_t shifted[sizeof(struct small) + 1];
  struct small small = make_sound();
  memcpy(shifted + 1, &small, sizeof small);
  assert_int_equal(symbol_index_parse(span_of(shifted + 1, sizeof small), &index), -EBADMSG);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_address_gets_its_symbol),
      cmocka_unit_test(the_last_name_before_an_address_is_found),
      cmocka_unit_test(a_name_that_ends_before_an_address_is_false_there),
      cmocka_unit_test(another_name_of_the_function_is_known_to_be_one),
      cmocka_unit_test(a_clone_is_its_function),
      cmocka_unit_test(a_chain_has_each_function_with_its_place),
      cmocka_unit_test(a_node_cannot_be_inlined_into_itself_or_a_later_one),
      cmocka_unit_test(another_version_or_byte_order_is_told_apart_from_damage),
      cmocka_unit_test(a_truncated_index_is_refused),
      cmocka_unit_test(tables_out_of_bounds_are_refused),
      cmocka_unit_test(strings_that_are_damaged_are_not_there),
      cmocka_unit_test(a_function_that_is_kept_ends_where_it_says),
      cmocka_unit_test(a_readable_name_keeps_what_it_was_made_of),
      cmocka_unit_test(a_file_that_lies_is_not_read),
      cmocka_unit_test(references_out_of_bounds_find_nothing_and_fail_the_check),
      cmocka_unit_test(the_check_finds_disorder_and_dirty_names),
      cmocka_unit_test(bytes_that_are_not_aligned_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
