/* SPDX-License-Identifier: Apache-2.0 */
/* Linked with --wrap=index_maker_make: the test sets the result of reading a file. */
#include "api_world.h"

#include "names/index_maker.h"

#include <errno.h>

#define ID "00112233445566778899aabbccddeeff00112233"

enum { SETTLE_MS = 20000 };

static uint8_t content[] = "\x7f"
                           "ELF a file";
static int verdict; /* 0: it has a symbol table */

int __wrap_index_maker_make(struct debug_store *store, struct nursery *nursery,
                            const struct debug_file *file);

int __wrap_index_maker_make(struct debug_store *store, struct nursery *nursery,
                            const struct debug_file *file) {
  (void)nursery;
  uint8_t id[20];
  for (uint8_t i = 0; i < 20; i++) id[i] = (uint8_t)(i % 16 * 0x11);
  if (verdict == -EBADMSG)
    return debug_store_set_quality(store, file->sha256, DEBUG_BAD, "it is none");
  if (verdict != 0) return verdict;
  int error = debug_store_set_identity(store, file->sha256, span_of(id, sizeof id));
  return error != 0 ? error : debug_store_set_quality(store, file->sha256, DEBUG_SYMTAB, "");
}

/* Puts all of the file.  Returns the status. */
static int put_file(void) {
  end_request(NULL);
  request = (struct request){.service = &service,
                             .argument = ID,
                             .piece = content,
                             .piece_len = sizeof content - 1,
                             .body_len = sizeof content - 1};
  arena_init(&request.arena, REQUEST_ARENA_BYTES);
  api_debug_put(&request);
  return request.answer.status;
}

static void a_file_that_we_cannot_read_now_is_not_refused(void **state) {
  (void)state;
  static const int faults[] = {-ETIMEDOUT, -EBUSY, -ENOSPC, -EAGAIN};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    verdict = faults[i];
    assert_int_equal(put_file(), 503);
    assert_has(request.answer.fields, "Retry-After: ");
    assert_has(buf_text(&request.answer.body), "the file is here");
    assert_true(symbolizer_settle(service.parts.symbolizer, SETTLE_MS));
  }
  verdict = 0;
  assert_int_equal(put_file(), 201);
  assert_has(buf_text(&request.answer.body), "\"quality\":\"symtab\"");
}

static void a_file_that_is_of_no_use_is_refused(void **state) {
  (void)state;
  verdict = -EBADMSG;
  assert_int_equal(put_file(), 422);
  assert_has(buf_text(&request.answer.body), "it is none");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_file_that_we_cannot_read_now_is_not_refused, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(a_file_that_is_of_no_use_is_refused, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
