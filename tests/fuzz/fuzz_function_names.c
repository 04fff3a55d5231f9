/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a profile that nobody wrote: what is believed of them is in order, ends within 64 bits
   and is clean, what is found lies where it was looked for, and what was read is written again as
   it was. */
#include "report/kept_names.h"

#include "common/buf.h"
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_function(const struct kept_names *kept, const struct module_names *list,
                           const struct function_name *function) {
  struct symbol_match match;
  enum names_quality quality;
  if (function->size == 0 || function->size > UINT64_MAX - function->start) abort();
  if (!name_text_is_clean(span_of_string(function->name))) abort();
  if (kept_names_find(kept, list->id, function->start, &match, &quality) != 0)
    return; /* too deep */
  if (match.start > function->start || function->start - match.start >= match.size) abort();
}

/* Adds what is in PAYLOAD twenty times, so that lists are merged, and looks for all of it. */
static void check_found(struct span payload, const struct module_names *lists, uint32_t count) {
  struct kept_names kept;
  kept_names_init(&kept, 1);
  for (int i = 0; i < 20; i++)
    if (kept_names_add(&kept, payload) != 0) break;
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t f = 0; f < lists[i].count; f++)
      check_function(&kept, &lists[i], &lists[i].functions[f]);
  kept_names_fini(&kept);
}

static void check_again(const struct module_names *lists, uint32_t count) {
  struct buf payload = {0};
  struct arena arena;
  struct module_names *again;
  uint32_t again_count;
  arena_init(&arena, (size_t)64 << 20);
  function_names_begin(&payload);
  for (uint32_t i = 0; i < count; i++) function_names_append(&lists[i], &payload);
  if (!payload.failed &&
      (function_names_decode(buf_span(&payload), &arena, &again, &again_count) != 0 ||
       again_count != count))
    abort();
  arena_fini(&arena);
  buf_fini(&payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct module_names *lists;
  uint32_t count;
  arena_init(&arena, (size_t)32 << 20);
  if (function_names_decode(span_of(data, len), &arena, &lists, &count) == 0) {
    check_found(span_of(data, len), lists, count);
    check_again(lists, count);
  }
  arena_fini(&arena);
  return 0;
}
