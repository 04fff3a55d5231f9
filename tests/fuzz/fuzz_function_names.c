/* SPDX-License-Identifier: Apache-2.0 */
/* Names in an untrusted profile. An accepted name lies in its code, ends within 64 bits and is
   clean text. A found name covers the queried address. Names are unchanged after writing them
   again. */
#include "report/kept_names.h"

#include "common/buf.h"
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static bool is_clean(const char *text) {
  return text == NULL || name_text_is_clean(span_of_string(text));
}

static void check_frame(const struct symbol_frame *frame, uint64_t address) {
  if (frame->size == 0 || frame->size > UINT64_MAX - frame->start) abort();
  if (address < frame->start || address - frame->start >= frame->size) abort();
  if (frame->name == NULL || !is_clean(frame->name)) abort();
  if (!is_clean(symbol_frame_system_name(frame))) abort();
  if (!is_clean(frame->file) || !is_clean(frame->decl_file)) abort();
}

/* The search for functions is bounded, that for places is not. */
static void check_place(const struct kept_names *kept, const struct module_names *module,
                        const struct place_name *place) {
  struct kept_match match;
  if (place->count == 0 || place->count > SYMBOL_CHAIN_MAX) abort();
  for (uint32_t i = 0; i < place->count; i++) check_frame(&place->frames[i], place->address);
  bool is_found = kept_names_find(kept, module->id, place->address, &match) == 0;
  const struct symbol_frame *root = &place->frames[place->count - 1];
  for (uint32_t i = 0; is_found && i < match.count; i++)
    check_frame(&match.frames[i], place->address);
  bool is_good = is_found && match.quality >= names_quality_of(root, module->quality);
  if (!is_good && !module->is_of_functions) abort();
  uint64_t last = root->start + root->size - 1;
  if (kept_names_find(kept, module->id, last, &match) != 0) return; /* too deep */
  for (uint32_t i = 0; i < match.count; i++) check_frame(&match.frames[i], last);
}

/* Adds the content of PAYLOAD three times and looks up all of it. */
static void check_found(struct span payload, const struct module_names *modules, uint32_t count) {
  struct kept_names kept;
  kept_names_init(&kept, 1);
  bool is_added = true;
  for (int i = 0; i < 3; i++) is_added &= kept_names_add(&kept, payload) == 0;
  is_added &= kept_names_sort(&kept) == 0;
  for (uint32_t i = 0; i < count && is_added; i++)
    for (uint32_t f = 0; f < modules[i].count; f++)
      check_place(&kept, &modules[i], &modules[i].places[f]);
  kept_names_fini(&kept);
}

static bool is_same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool is_same_frame(const struct symbol_frame *a, const struct symbol_frame *b) {
  return is_same_text(a->name, b->name) &&
         is_same_text(symbol_frame_system_name(a), symbol_frame_system_name(b)) &&
         is_same_text(a->file, b->file) && is_same_text(a->decl_file, b->decl_file) &&
         a->line == b->line && a->decl_line == b->decl_line && a->start == b->start &&
         a->size == b->size;
}

static void compare(const struct module_names *a, const struct module_names *b) {
  if (a->count != b->count || a->quality != b->quality || !span_is_equal(a->id, b->id)) abort();
  for (uint32_t i = 0; i < a->count; i++) {
    const struct place_name *one = &a->places[i], *other = &b->places[i];
    if (one->address != other->address || one->count != other->count) abort();
    for (uint32_t f = 0; f < one->count; f++)
      if (!is_same_frame(&one->frames[f], &other->frames[f])) abort();
  }
}

/* A module of nothing is not written. */
static void check_again(const struct module_names *modules, uint32_t count) {
  struct function_names names = {.failed = false};
  struct buf payload = {0};
  struct arena arena;
  struct module_names *again;
  uint32_t again_count, at = 0;
  arena_init(&arena, (size_t)64 << 20);
  for (uint32_t i = 0; i < count; i++) {
    function_names_begin(&names, modules[i].id, modules[i].quality);
    for (uint32_t f = 0; f < modules[i].count; f++)
      function_names_add(&names, &modules[i].places[f]);
  }
  function_names_end(&names, &payload);
  int error = function_names_decode(buf_span(&payload), &arena, &again, &again_count);
  if (!payload.failed && error != 0) abort();
  for (uint32_t i = 0; i < count && error == 0; i++)
    if (modules[i].count > 0) compare(&modules[i], &again[at++]);
  if (error == 0 && at != again_count) abort();
  arena_fini(&arena);
  buf_fini(&payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len) {
  struct arena arena;
  struct module_names *modules;
  uint32_t count;
  arena_init(&arena, (size_t)32 << 20);
  if (function_names_decode(span_of(data, len), &arena, &modules, &count) == 0) {
    check_found(span_of(data, len), modules, count);
    check_again(modules, count);
  }
  arena_fini(&arena);
  return 0;
}
