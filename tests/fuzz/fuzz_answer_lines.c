/* SPDX-License-Identifier: Apache-2.0 */
/* A translator's answer. The first byte is the number of queried addresses (0x1, 0x2, ...), the
   rest the answer. Every accepted name is clean text within the limits, for any input. */
#include "symbol/name_text.h"
#include "translate/answer_lines.h"

#include <errno.h>
#include <stdlib.h>

enum { COUNT_MAX = 32, ARENA_BYTES = 4 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct answer *answer) {
  if (answer->count > SYMBOL_CHAIN_MAX) abort();
  for (uint32_t i = 0; i < answer->count; i++) {
    const struct symbol_frame *frame = &answer->frames[i];
    if (!name_text_is_clean(span_of_string(frame->name)) || frame->name[0] == '\0') abort();
    if (frame->file != NULL && !name_text_is_clean(span_of_string(frame->file))) abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  uint64_t addresses[COUNT_MAX];
  struct answer answers[COUNT_MAX];
  struct arena arena;
  if (len == 0) return 0;
  const struct answer_question question = {addresses, data[0] % (COUNT_MAX + 1)};
  for (uint32_t i = 0; i < COUNT_MAX; i++) addresses[i] = i + 1;
  arena_init(&arena, ARENA_BYTES);
  int error = answer_lines_parse(span_of(data + 1, len - 1), &question, &arena, answers);
  if (error != 0 && error != -EBADMSG && error != -ENOMEM) abort();
  bool is_echo = answer_lines_are_echo(span_of(data + 1, len - 1), &question);
  for (uint32_t i = 0; i < question.count && error == 0; i++) {
    check(&answers[i]);
    if (is_echo && answers[i].count > 0) abort(); /* an address is no name */
  }
  arena_fini(&arena);
  return 0;
}
