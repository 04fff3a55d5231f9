/* SPDX-License-Identifier: Apache-2.0 */
/* Source bundles: uploaded, listed, served as debuginfod does, and line by line. */
#include "api_world.h"

#include "http/source_text.h"
#include "proto/compress.h"
#include "query/detail.h"

#include <openssl/sha.h>

#define ID "00112233445566778899aabbccddeeff00112233"

static const char text_a[] = "first\r\nsecond\n\nfourth, without an end";
static struct buf bundle;
static char sha_text[65], total_text[24];

/* Packs /src/a.c with TEXT and an empty /src/b.h. */
static void pack(const char *text) {
  struct buf content[2] = {{0}, {0}};
  assert_int_equal(compress(span_of_string(text), 3, &content[0]), 0);
  assert_int_equal(compress(span_of(NULL, 0), 3, &content[1]), 0);
  const struct source_item items[] = {
      {"/src/a.c", (uint32_t)content[0].len, (uint32_t)strlen(text)},
      {"/src/b.h", (uint32_t)content[1].len, 0}};
  buf_fini(&bundle);
  bundle = (struct buf){0};
  assert_int_equal(source_bundle_head(items, 2, &bundle), 0);
  for (int i = 0; i < 2; i++) {
    buf_append(&bundle, content[i].data, content[i].len);
    buf_fini(&content[i]);
  }
  uint8_t sha256[32];
  SHA256(bundle.data, bundle.len, sha256);
  for (int i = 0; i < 32; i++) snprintf(sha_text + 2 * i, 3, "%02x", sha256[i]);
  snprintf(total_text, sizeof total_text, "%zu", bundle.len);
}

/* Puts a request about ID's sources before HANDLER, with the bundle's bytes from FROM to TO. */
static void send_part(void (*handler)(struct request *request), size_t from, size_t to) {
  char offset[24];
  snprintf(offset, sizeof offset, "%zu", from);
  end_request(NULL);
  request = (struct request){.service = &service,
                             .argument = ID,
                             .piece = bundle.data + from,
                             .piece_len = to - from,
                             .body_len = to - from};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  request.parameters.rows[0] = (struct parameter){"total", total_text};
  request.parameters.rows[1] = (struct parameter){"sha256", sha_text};
  request.parameters.rows[2] = (struct parameter){"offset", offset};
  request.parameters.count = 3;
  handler(&request);
}

static const char *answered(void) {
  return buf_text(&request.answer.body);
}

static const char *fetch_source(const char *what) {
  end_request(NULL);
  request = (struct request){.service = &service, .argument = what};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  api_buildid(&request);
  return answered();
}

static void a_bundle_comes_in_pieces_and_is_told_of(void **state) {
  (void)state;
  pack(text_a);
  send_part(api_sources_head, 0, 0);
  assert_int_equal(request.answer.status, 404);
  send_part(api_sources_put, 0, 40);
  assert_int_equal(request.answer.status, 202);
  assert_has(answered(), "\"bytes\":40,\"complete\":false");
  send_part(api_sources_head, 0, 0);
  assert_int_equal(request.answer.length, 40);
  send_part(api_sources_put, 50, bundle.len);
  assert_int_equal(request.answer.status, 409);
  assert_has(answered(), "offset 50, but only 40 bytes are here");
  send_part(api_sources_put, 40, bundle.len);
  assert_int_equal(request.answer.status, 201);
  assert_has(answered(), "\"complete\":true");
  send_part(api_sources_head, 0, 0);
  assert_int_equal(request.answer.length, bundle.len);
  assert_has(ask(api_sources_list, NULL, NULL, NULL, NULL), "{\"build_id\":\"" ID "\",\"bytes\":");
  assert_has(answered(), ",\"files\":2}");
}

static void what_is_no_bundle_is_refused(void **state) {
  (void)state;
  pack(text_a);
  bundle.data[0] = 'x';
  send_part(api_sources_put, 0, bundle.len);
  assert_int_equal(request.answer.status, 400);
  assert_has(answered(), "no source bundle");
  pack(text_a);
  sha_text[0] = sha_text[0] == '0' ? '1' : '0';
  send_part(api_sources_put, 0, bundle.len);
  assert_int_equal(request.answer.status, 400);
  assert_has(answered(), "hash");
}

static void sources_are_served_by_their_paths(void **state) {
  (void)state;
  pack(text_a);
  send_part(api_sources_put, 0, bundle.len);
  assert_string_equal(fetch_source(ID "/source/src/a.c"), text_a);
  assert_string_equal(fetch_source(ID "/source/src/x/../a.c"), text_a);
  assert_string_equal(fetch_source(ID "/source/src/b.h"), "");
  static const char *const absent[] = {"/source/src/c.c", "/source/src", "/source/",
                                       "/source/etc/passwd", "/source/../../etc/passwd"};
  char what[128];
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
    snprintf(what, sizeof what, ID "%s", absent[i]);
    fetch_source(what);
    assert_int_equal(request.answer.status, 404);
  }
  fetch_source("ff" ID "/source/src/a.c");
  assert_int_equal(request.answer.status, 404);
}

/* Asserts that LINE of PATH is EXPECTED; NULL: that it does not exist. */
static void assert_line(struct source_text *text, const char *path, uint32_t line,
                        const char *expected) {
  struct span found;
  assert_int_equal(source_text_line(text, path, line, &found), expected != NULL);
  if (expected != NULL) assert_true(span_is_equal(found, span_of_string(expected)));
}

static void each_line_has_its_own_text(void **state) {
  (void)state;
  struct detail_row builds[] = {{.name = "ffff"}, {.name = ID}};
  const struct detail_rows rows = {2, builds};
  struct source_text text;
  struct arena arena;
  pack(text_a);
  send_part(api_sources_put, 0, bundle.len);
  arena_init(&arena, 1 << 20);
  source_text_open(service.parts.sources, &rows, &arena, &text);
  assert_string_equal(text.build_id, ID);
  assert_line(&text, "/src/a.c", 0, NULL);
  assert_line(&text, "/src/a.c", 1, "first");
  assert_line(&text, "/src/a.c", 2, "second");
  assert_line(&text, "/src/a.c", 3, "");
  assert_line(&text, "/src/a.c", 4, "fourth, without an end");
  assert_line(&text, "/src/a.c", 5, NULL);
  assert_line(&text, "./src/a.c", 2, "second"); /* a build that hides where it ran */
  assert_line(&text, "/src/b.h", 1, NULL);
  assert_line(&text, "/src/c.c", 1, NULL);
  assert_line(&text, NULL, 1, NULL);
  source_text_close(&text);
  arena_fini(&arena);
}

static int tear_down_all(void **state) {
  buf_fini(&bundle);
  bundle = (struct buf){0};
  return tear_down(state);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down_all)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_bundle_comes_in_pieces_and_is_told_of),
      TEST(what_is_no_bundle_is_refused),
      TEST(sources_are_served_by_their_paths),
      TEST(each_line_has_its_own_text),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
