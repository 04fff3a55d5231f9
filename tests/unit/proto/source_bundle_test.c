/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of a module as one file: packed files are found again, and no content of a bundle leads a
   lookup outside of it. */
#include "proto/compress.h"
#include "proto/limits.h"
#include "proto/source_bundle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FILES = 3, HEADER_BYTES = 16, ENTRY_BYTES = 24 };

static const char *const paths[FILES] = {"/src/a.c", "/src/a.c.h", "/src/b/c.c"};
static const char *const texts[FILES] = {"int a;\n", "", "int c(void);\nint d;\n"};

static struct buf make(const char *const *names) {
  struct buf bundle = {0}, contents = {0};
  struct source_item items[FILES];
  for (unsigned i = 0; i < FILES; i++) {
    size_t before = contents.len;
    assert_int_equal(compress(span_of_string(texts[i]), 3, &contents), 0);
    items[i] = (struct source_item){names[i], (uint32_t)(contents.len - before),
                                    (uint32_t)strlen(texts[i])};
  }
  assert_int_equal(source_bundle_head(items, FILES, &bundle), 0);
  buf_append(&bundle, contents.data, contents.len);
  buf_fini(&contents);
  return bundle;
}

static void each_file_is_found_by_its_path(void **state) {
  (void)state;
  struct buf bytes = make(paths);
  struct source_bundle bundle;
  struct source_entry entry;
  assert_true(source_bundle_is(buf_span(&bytes)));
  assert_int_equal(source_bundle_parse(buf_span(&bytes), &bundle), 0);
  assert_int_equal(source_bundle_verify(&bundle), 0);
  for (unsigned i = 0; i < FILES; i++) {
    struct buf content = {0};
    assert_int_equal(source_bundle_find(&bundle, span_of_string(paths[i]), &entry), 0);
    assert_int_equal(source_entry_unpack(&entry, &content), 0);
    assert_true(span_is_equal(buf_span(&content), span_of_string(texts[i])));
    buf_fini(&content);
  }
  static const char *const others[] = {"", "/", "/src/a", "/src/a.c.", "/src/b/c.c.c", "/src/b"};
  for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
    assert_int_equal(source_bundle_find(&bundle, span_of_string(others[i]), &entry), -ENOENT);
  buf_fini(&bytes);
}

static void a_bundle_of_nothing_is_one(void **state) {
  (void)state;
  struct buf bytes = {0};
  struct source_bundle bundle;
  struct source_entry entry;
  assert_int_equal(source_bundle_head(NULL, 0, &bytes), 0);
  assert_int_equal(source_bundle_parse(buf_span(&bytes), &bundle), 0);
  assert_int_equal(source_bundle_verify(&bundle), 0);
  assert_int_equal(source_bundle_find(&bundle, span_of_string("/a"), &entry), -ENOENT);
  buf_fini(&bytes);
}

static void paths_out_of_order_or_with_two_spellings_are_refused(void **state) {
  (void)state;
  static const char *const bad[][FILES] = {
      {"/b", "/a", "/c"},      {"/a", "/a", "/b"},    {"a", "b", "c"},
      {"/a/../b", "/c", "/d"}, {"/a//b", "/c", "/d"}, {"/./a", "/b", "/c"},
      {"/", "/a", "/b"},       {"/a/", "/b", "/c"},   {"/a", "/b\n/c", "/d"}};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct buf bytes = make(bad[i]);
    struct source_bundle bundle;
    assert_int_equal(source_bundle_parse(buf_span(&bytes), &bundle), 0);
    assert_int_equal(source_bundle_verify(&bundle), -EBADMSG);
    buf_fini(&bytes);
  }
}

/* Puts VALUE at AT of a good bundle. Returns the verdict on the head, or else on the list. */
static int with_number(size_t at, uint32_t value) {
  struct buf bytes = make(paths);
  struct source_bundle bundle;
  for (unsigned i = 0; i < 4; i++) bytes.data[at + i] = (uint8_t)(value >> (8 * i));
  int error = source_bundle_parse(buf_span(&bytes), &bundle);
  if (error == 0) error = source_bundle_verify(&bundle);
  buf_fini(&bytes);
  return error;
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  assert_int_equal(with_number(8, SOURCE_BUNDLE_VERSION + 1), -EPROTO);
  assert_int_equal(with_number(12, LIMIT_SOURCE_FILES + 1), -EOVERFLOW);
  assert_int_equal(with_number(12, LIMIT_SOURCE_FILES), -EBADMSG);
  assert_int_equal(with_number(HEADER_BYTES, UINT32_MAX), -EBADMSG);     /* offset */
  assert_int_equal(with_number(HEADER_BYTES + 4, UINT32_MAX), -EBADMSG); /* its upper half */
  assert_int_equal(with_number(HEADER_BYTES + 8, UINT32_MAX), -EBADMSG); /* packed length */
  assert_int_equal(with_number(HEADER_BYTES + 12, LIMIT_SOURCE_BYTES + 1), -EBADMSG);
  assert_int_equal(with_number(HEADER_BYTES + 16, UINT32_MAX), -EBADMSG); /* path */
  assert_int_equal(with_number(HEADER_BYTES + 20, UINT32_MAX), -EBADMSG);
  assert_int_equal(with_number(HEADER_BYTES + ENTRY_BYTES + 16, UINT32_MAX), -EBADMSG);
}

static void a_content_of_another_length_than_told_is_refused(void **state) {
  (void)state;
  struct buf bytes = make(paths), content = {0};
  struct source_bundle bundle;
  struct source_entry entry;
  assert_int_equal(source_bundle_parse(buf_span(&bytes), &bundle), 0);
  assert_true(source_bundle_entry(&bundle, 2, &entry));
  entry.raw_len--;
  assert_int_equal(source_entry_unpack(&entry, &content), -EBADMSG);
  entry.raw_len += 2;
  assert_int_equal(source_entry_unpack(&entry, &content), -EBADMSG);
  assert_int_equal(content.len, 0);
  assert_false(source_bundle_entry(&bundle, FILES, &entry));
  buf_fini(&content);
  buf_fini(&bytes);
}

static void no_list_over_a_limit_is_made(void **state) {
  (void)state;
  char path[LIMIT_PATH_BYTES + 3];
  memset(path, 'a', sizeof path);
  path[0] = '/';
  path[sizeof path - 1] = '\0';
  const struct source_item items[] = {
      {path, 1, 1}, {"/a", 1, LIMIT_SOURCE_BYTES + 1}, {"/a", LIMIT_SOURCE_BUNDLE_BYTES, 1}};
  for (unsigned i = 0; i < sizeof items / sizeof *items; i++) {
    struct buf bytes = {0};
    assert_int_equal(source_bundle_head(&items[i], 1, &bytes), -EOVERFLOW);
    buf_fini(&bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_file_is_found_by_its_path),
      cmocka_unit_test(a_bundle_of_nothing_is_one),
      cmocka_unit_test(paths_out_of_order_or_with_two_spellings_are_refused),
      cmocka_unit_test(what_does_not_fit_is_refused),
      cmocka_unit_test(a_content_of_another_length_than_told_is_refused),
      cmocka_unit_test(no_list_over_a_limit_is_made),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
