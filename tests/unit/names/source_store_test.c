/* SPDX-License-Identifier: Apache-2.0 */
/* Source bundles on disk: whole, right, or not there. */
#include "names/source_store.h"
#include "proto/compress.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64], why[256];
static struct source_store *store;
static uint8_t sha256[32];
static const struct span id_a = {(const uint8_t *)"aaaaaaaaaaaaaaaaaaaa", 20};
static const struct span id_b = {(const uint8_t *)"bbbbbbbbbbbbbbbbbbbb", 20};

static int set_up(void **state) {
  (void)state;
  snprintf(dir, sizeof dir, "/tmp/source-store-XXXXXX");
  if (mkdtemp(dir) == NULL) return -1;
  return source_store_open(dir, &store, why, sizeof why);
}

static int tear_down(void **state) {
  (void)state;
  char command[96];
  source_store_close(store);
  store = NULL;
  snprintf(command, sizeof command, "rm -rf %s", dir);
  return system(command);
}

static struct buf bundle_of(const char *text) {
  struct buf bytes = {0}, content = {0};
  assert_int_equal(compress(span_of_string(text), 3, &content), 0);
  const struct source_item item = {"/src/a.c", (uint32_t)content.len, (uint32_t)strlen(text)};
  assert_int_equal(source_bundle_head(&item, 1, &bytes), 0);
  buf_append(&bytes, content.data, content.len);
  buf_fini(&content);
  SHA256(bytes.data, bytes.len, sha256);
  return bytes;
}

static int put(struct span id, const struct buf *bundle, size_t from, size_t to) {
  const struct source_piece piece = {.id = id,
                                     .sha256 = span_of(sha256, sizeof sha256),
                                     .offset = from,
                                     .total = bundle->len,
                                     .bytes = span_of(bundle->data + from, to - from)};
  why[0] = '\0';
  return source_store_write(store, &piece, why, sizeof why);
}

static uint64_t uploaded(struct span id, const struct buf *bundle) {
  const struct source_piece piece = {
      .id = id, .sha256 = span_of(sha256, sizeof sha256), .total = bundle->len};
  return source_store_uploaded(store, &piece);
}

/* Asserts that module ID's /src/a.c is TEXT; NULL: that it does not exist. */
static void assert_source(struct span id, const char *text) {
  struct source_bundle bundle;
  struct source_entry entry;
  struct buf content = {0};
  int error = source_store_map(store, id, &bundle);
  assert_int_equal(error, text != NULL ? 0 : -ENOENT);
  if (text == NULL) return;
  assert_int_equal(source_bundle_find(&bundle, span_of_string("/src/a.c"), &entry), 0);
  assert_int_equal(source_entry_unpack(&entry, &content), 0);
  assert_true(span_is_equal(buf_span(&content), span_of_string(text)));
  buf_fini(&content);
  source_store_unmap(&bundle);
}

static void a_bundle_is_there_when_its_last_byte_is(void **state) {
  (void)state;
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(id_a, &bundle, 0, 20), 0);
  assert_int_equal(uploaded(id_a, &bundle), 20);
  assert_source(id_a, NULL);
  source_store_close(store); /* the collector is started again */
  assert_int_equal(source_store_open(dir, &store, why, sizeof why), 0);
  assert_int_equal(uploaded(id_a, &bundle), 20);
  assert_int_equal(put(id_a, &bundle, 20, bundle.len), 1);
  assert_int_equal(uploaded(id_a, &bundle), bundle.len);
  assert_int_equal(uploaded(id_b, &bundle), 0);
  assert_source(id_a, "int a;\n");
  assert_source(id_b, NULL);
  buf_fini(&bundle);
}

static void two_who_send_the_same_do_not_set_each_other_back(void **state) {
  (void)state;
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(id_a, &bundle, 0, 30), 0);
  assert_int_equal(put(id_a, &bundle, 0, 20), 0); /* the second begins */
  assert_int_equal(uploaded(id_a, &bundle), 30);
  assert_int_equal(put(id_a, &bundle, 30, bundle.len), 1);
  assert_int_equal(put(id_a, &bundle, 20, bundle.len), -ESPIPE); /* must first query the offset */
  assert_int_equal(uploaded(id_a, &bundle), bundle.len);
  assert_source(id_a, "int a;\n");
  buf_fini(&bundle);
}

static void a_later_bundle_takes_the_place_of_the_one_before(void **state) {
  (void)state;
  struct source_bundle before;
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), 1);
  buf_fini(&bundle);
  assert_int_equal(source_store_map(store, id_a, &before), 0);
  bundle = bundle_of("int a, b;\n");
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), 1);
  buf_fini(&bundle);
  assert_source(id_a, "int a, b;\n");
  assert_int_equal(source_bundle_verify(&before), 0); /* open readers keep the old bundle */
  source_store_unmap(&before);
}

static void what_is_not_what_was_announced_is_refused(void **state) {
  (void)state;
  struct buf bundle = bundle_of("int a;\n");
  sha256[0] ^= 1;
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), -EBADMSG);
  assert_non_null(strstr(why, "hash"));
  assert_int_equal(uploaded(id_a, &bundle), 0); /* sent again from its start */
  sha256[0] ^= 1;
  assert_int_equal(put(id_a, &bundle, 7, bundle.len), -ESPIPE);
  assert_non_null(strstr(why, "offset 7"));
  bundle.data[16] ^= 0x80; /* a byte of the content */
  SHA256(bundle.data, bundle.len, sha256);
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), -EBADMSG);
  assert_non_null(strstr(why, "malformed"));
  bundle.data[0] = 'x';
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), -EBADMSG);
  assert_source(id_a, NULL);
  buf_fini(&bundle);
}

static void a_module_and_a_size_out_of_bounds_are_refused(void **state) {
  (void)state;
  uint8_t long_id[LIMIT_MODULE_ID_BYTES + 1] = {1};
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(span_of(long_id, sizeof long_id), &bundle, 0, bundle.len), -EBADMSG);
  assert_int_equal(put(span_of(long_id, 0), &bundle, 0, bundle.len), -EBADMSG);
  assert_int_equal(put(span_of(long_id, sizeof long_id - 1), &bundle, 0, bundle.len), 1);
  const struct source_piece huge = {.id = id_a,
                                    .sha256 = span_of(sha256, sizeof sha256),
                                    .total = LIMIT_SOURCE_BUNDLE_BYTES + 1,
                                    .bytes = buf_span(&bundle)};
  assert_int_equal(source_store_write(store, &huge, why, sizeof why), -EOVERFLOW);
  buf_fini(&bundle);
}

static int on_bundle(void *context, const struct source_known *bundle) {
  unsigned *count = context;
  assert_string_equal(bundle->build_id, "6161616161616161616161616161616161616161");
  assert_int_equal(bundle->files, 1);
  (*count)++;
  return 0;
}

static void the_list_has_what_is_whole(void **state) {
  (void)state;
  unsigned count = 0;
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), 1);
  assert_int_equal(put(id_b, &bundle, 0, 20), 0);
  assert_int_equal(source_store_list(store, on_bundle, &count), 0);
  assert_int_equal(count, 1);
  buf_fini(&bundle);
}

static void a_full_store_gives_up_what_was_read_longest_ago(void **state) {
  (void)state;
  static const char *const names[] = {"01", "02", "03"};
  char path[128];
  for (unsigned i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/sources/%s", dir, names[i]);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (off_t)4 << 30), 0); /* has holes alone */
    const struct timespec at[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
    assert_int_equal(futimens(fd, at), 0);
    close(fd);
  }
  struct buf bundle = bundle_of("int a;\n");
  assert_int_equal(put(id_a, &bundle, 0, bundle.len), 1);
  for (unsigned i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/sources/%s", dir, names[i]);
    assert_int_equal(access(path, F_OK), i < 2 ? -1 : 0);
  }
  assert_source(id_a, "int a;\n");
  buf_fini(&bundle);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_bundle_is_there_when_its_last_byte_is, set_up, tear_down),
      cmocka_unit_test_setup_teardown(two_who_send_the_same_do_not_set_each_other_back, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_later_bundle_takes_the_place_of_the_one_before, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(what_is_not_what_was_announced_is_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_module_and_a_size_out_of_bounds_are_refused, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(the_list_has_what_is_whole, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_store_gives_up_what_was_read_longest_ago, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
