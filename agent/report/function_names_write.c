/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes names.  A text or a function is stored once per payload, however many addresses use it.
   So another address of a function takes about 8 bytes, and 3 or 4 after zstd. */
#include "function_names.h"

#include "common/array.h"
#include "proto/varint.h"
#include "symbol/symbol_index.h"

#include <stdlib.h>

enum { FIRST_ROOM = 64, FUNCTION_BYTES = 8 /* approximate size of a function */ };

/* A function of the source: indexes of texts. */
struct named_function {
  uint32_t name, system_name, file, line;
};

void function_names_fini(struct function_names *names) {
  text_ids_fini(&names->texts);
  table_fini(&names->by_parts);
  free(names->functions);
  buf_fini(&names->modules);
  buf_fini(&names->places);
}

/* ---- deduplicated texts and functions ---- */

static uint32_t number_of(struct function_names *names, const char *text) {
  bool is_new;
  if (text == NULL) return 0;
  uint32_t number = text_ids_of(&names->texts, text, &is_new);
  if (is_new) names->text_bytes += strlen(text) + 1;
  return number + 1;
}

static bool make_room(struct function_names *names) {
  struct named_function *more = array_grow(names->functions, names->function_count,
                                           &names->function_room, FIRST_ROOM, sizeof *more);
  if (more == NULL) return false;
  names->functions = more;
  return true;
}

/* The index of FRAME's function. */
static uint32_t function_of(struct function_names *names, const struct symbol_frame *frame) {
  const struct named_function wanted = {
      number_of(names, frame->name),
      frame->is_readable ? number_of(names, symbol_frame_system_name(frame)) : 0,
      number_of(names, frame->decl_file), frame->decl_line};
  uint64_t hash = table_hash(&wanted, sizeof wanted, 0);
  uint32_t cursor, at = table_find(&names->by_parts, hash, &cursor);
  while (at != TABLE_NONE && memcmp(&names->functions[at], &wanted, sizeof wanted) != 0)
    at = table_next(&names->by_parts, hash, &cursor);
  if (at != TABLE_NONE) return at;
  if (!make_room(names) || table_add(&names->by_parts, hash, names->function_count) != 0) {
    names->failed = true;
    return 0;
  }
  names->functions[names->function_count] = wanted;
  return names->function_count++;
}

/* ---- modules ---- */

static void end_module(struct function_names *names) {
  struct buf *modules = &names->modules;
  if (names->count > 0) {
    varint_encode(modules, names->quality - NAMES_EXPORTED);
    varint_encode(modules, names->id.len);
    buf_append(modules, names->id.data, names->id.len);
    varint_encode(modules, names->count);
    buf_append(modules, names->places.data, names->places.len);
  }
  names->failed |= names->places.failed;
  buf_clear(&names->places);
  names->count = 0;
  names->start = names->size = names->address = 0;
}

void function_names_begin(struct function_names *names, struct span id,
                          enum names_quality quality) {
  end_module(names);
  names->id = id;
  names->quality = quality;
}

void function_names_add(struct function_names *names, const struct place_name *place) {
  const struct symbol_frame *root = &place->frames[place->count - 1];
  struct buf *places = &names->places;
  bool is_same = names->count > 0 && root->start == names->start && root->size == names->size;
  varint_encode(places, (uint64_t)place->count << 1 | is_same);
  if (is_same) {
    varint_encode(places, place->address - names->address);
  } else {
    varint_encode(places, root->start - names->start);
    varint_encode(places, root->size);
    varint_encode(places, place->address - root->start);
  }
  for (uint32_t i = 0; i < place->count; i++) {
    varint_encode(places, function_of(names, &place->frames[i]));
    varint_encode(places, number_of(names, place->frames[i].file));
    varint_encode(places, place->frames[i].line);
  }
  names->start = root->start;
  names->size = root->size;
  names->address = place->address;
  names->count++;
}

size_t function_names_bytes(const struct function_names *names) {
  return names->modules.len + names->places.len + names->text_bytes +
         (size_t)names->function_count * FUNCTION_BYTES;
}

/* ---- the whole ---- */

static void append_texts(const struct text_ids *texts, struct buf *ret) {
  varint_encode(ret, texts->count);
  for (uint32_t i = 0; i < texts->count; i++) {
    size_t len = strlen(texts->texts[i]);
    varint_encode(ret, len);
    buf_append(ret, texts->texts[i], len);
  }
}

static void append_functions(const struct function_names *names, struct buf *ret) {
  varint_encode(ret, names->function_count);
  for (uint32_t i = 0; i < names->function_count; i++) {
    const struct named_function *function = &names->functions[i];
    varint_encode(ret, function->name);
    varint_encode(ret, function->system_name);
    varint_encode(ret, function->file);
    varint_encode(ret, function->line);
  }
}

void function_names_end(struct function_names *names, struct buf *ret) {
  end_module(names);
  varint_encode(ret, FUNCTION_NAMES_VERSION);
  append_texts(&names->texts, ret);
  append_functions(names, ret);
  buf_append(ret, names->modules.data, names->modules.len);
  ret->failed |= names->failed || names->texts.failed || names->modules.failed;
  function_names_fini(names);
  *names = (struct function_names){.failed = false};
}
