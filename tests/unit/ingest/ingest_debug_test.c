/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files on the boards' port: requested once, rejected with a reason. */
#include "ingest/ingest.h"
#include "proto/compress.h"

#include "board_fixture.h"

/* Reads this very program and finds its build-id. */
static struct span own_build_id(struct buf *file) {
  static const uint8_t note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
  FILE *self = fopen("/proc/self/exe", "rb");
  uint8_t block[4096];
  for (size_t len; (len = fread(block, 1, sizeof block, self)) > 0;) buf_append(file, block, len);
  fclose(self);
  const uint8_t *at = memmem(file->data, file->len, note, sizeof note);
  assert_non_null(at);
  return span_of(at + sizeof note, 20);
}

static void send_piece(struct span file, struct span id, uint64_t offset, const uint8_t *sha256) {
  struct buf zstd = {0};
  size_t len = file.len - offset;
  if (len > LIMIT_DEBUG_CHUNK_BYTES) len = LIMIT_DEBUG_CHUNK_BYTES;
  assert_int_equal(compress(span_of(file.data + offset, len), 1, &zstd), 0);
  struct message piece = {.type = FRAME_DEBUG_CHUNK,
                          .debug_chunk = {.id = id,
                                          .offset = offset,
                                          .total = file.len,
                                          .sha256 = span_of(sha256, 32),
                                          .raw_len = (uint32_t)len,
                                          .zstd = buf_span(&zstd)}};
  assert_true(peer_say(&peer, &piece));
  buf_fini(&zstd);
}

static void a_module_without_a_name_is_asked_for_before_its_ack(void **state) {
  (void)state;
  struct buf file = {0};
  uint8_t sha256[32];
  struct symbol symbol;
  struct span id = own_build_id(&file);
  EVP_Digest(file.data, file.len, sha256, NULL, EVP_sha256(), NULL);
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_content(&peer, &(struct content){11, 1, 1, id});
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_DEBUG_WANTED);
  assert_true(span_is_equal(heard.debug_wanted.id, id));
  assert_string_equal(heard.debug_wanted.path, "/usr/bin/thing");
  assert_int_equal(heard.debug_wanted.offset, 0);
  assert_acked(&peer, 1);
  for (uint64_t at = 0; at < file.len; at += LIMIT_DEBUG_CHUNK_BYTES)
    send_piece(buf_span(&file), id, at, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  assert_string_equal(heard.debug_end.reason, "");
  struct debug_file found;
  assert_int_equal(debug_store_find(door.debug, "edge-1", id, &found), 0);
  assert_true(found.quality >= DEBUG_SYMTAB);
  assert_int_equal(symbolizer_find(door.symbolizer, "edge-1", id, 1, &symbol), -ENOENT);
  send_content(&peer, &(struct content){11, 2, 2, id});
  assert_true(peer_hear(&peer, &heard));
  assert_int_equal(heard.type, FRAME_ACK);
  buf_fini(&file);
  peer_close(&peer);
}

static void a_debug_file_with_a_wrong_hash_ends_with_the_reason(void **state) {
  (void)state;
  static const uint8_t sha256[32] = {1};
  struct span file = span_of_string("\x7f"
                                    "ELF, or so it says");
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_true(peer_await(&peer, FRAME_DEBUG_WANTED, &heard));
  assert_acked(&peer, 1);
  send_piece(file, span_of_string("build-id"), 0, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  assert_true(heard.debug_end.reason[0] != 0);
  send_batch(&peer, 11, 2);
  assert_acked(&peer, 2);
  peer_close(&peer);
}

static void a_debug_file_of_another_module_ends_with_that_reason(void **state) {
  (void)state;
  struct buf file = {0};
  uint8_t sha256[32];
  own_build_id(&file);
  EVP_Digest(file.data, file.len, sha256, NULL, EVP_sha256(), NULL);
  enrol("edge-1");
  greet(&peer, "edge-1", 11);
  send_batch(&peer, 11, 1);
  assert_true(peer_await(&peer, FRAME_DEBUG_WANTED, &heard));
  assert_acked(&peer, 1);
  for (uint64_t at = 0; at < file.len; at += LIMIT_DEBUG_CHUNK_BYTES)
    send_piece(buf_span(&file), span_of_string("build-id"), at, sha256);
  assert_true(peer_await(&peer, FRAME_DEBUG_END, &heard));
  if (strstr(heard.debug_end.reason, "another module") == NULL)
    fail_msg("%s", heard.debug_end.reason);
  buf_fini(&file);
  peer_close(&peer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      AT_DOOR(a_module_without_a_name_is_asked_for_before_its_ack),
      AT_DOOR(a_debug_file_with_a_wrong_hash_ends_with_the_reason),
      AT_DOOR(a_debug_file_of_another_module_ends_with_that_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
