/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes names.

   The payload is untrusted.  A count is limited by the remaining bytes, and memory by the caller's
   arena.  An unclean text, an index out of range, an address outside of its code, or code beyond 64
   bits makes the whole payload malformed: no writer produces these. */
#include "function_names.h"

#include "common/arena.h"
#include "proto/limits.h"
#include "proto/varint.h"
#include "symbol/name_text.h"
#include "symbol/symbol_index.h"

#include <errno.h>

enum {
  VERSION_OF_FUNCTIONS = 1, /* functions only */
  FUNCTION_BYTES_MIN = 3,   /* of a function in version 1 */
  TEXT_BYTES_MIN = 1,
  SOURCE_BYTES_MIN = 4, /* of a function of the source */
  PLACE_BYTES_MIN = 5,
  FRAME_BYTES_MIN = 3,
  MODULE_BYTES_MIN = 3,
};

/* State of decoding a payload. */
struct decoding {
  struct span bytes; /* the rest */
  struct arena *arena;
  struct span *texts;
  const char **strings;           /* the texts, copied at first use */
  struct symbol_frame *functions; /* of the source: names and declarations */
  uint64_t text_count, function_count;
};

static int out_of_room(const struct arena *arena, size_t len) {
  return arena_is_over(arena, len) ? -EOVERFLOW : -ENOMEM;
}

/* Allocates COUNT entries of SIZE bytes, and one more, so that COUNT may be 0. */
static int make_array(struct arena *arena, uint64_t count, size_t size, void *ret) {
  void *array = arena_array(arena, (size_t)count + 1, size);
  if (array == NULL) return out_of_room(arena, ((size_t)count + 1) * size);
  memcpy(ret, &array, sizeof array);
  return 0;
}

/* Reads a count of items that have at least BYTES_MIN each. */
static int take_count(struct span *bytes, size_t bytes_min, uint64_t *ret) {
  uint64_t count;
  int error = varint_decode(bytes, &count);
  if (error != 0) return error;
  if (count > bytes->len / bytes_min) return -EBADMSG;
  *ret = count;
  return 0;
}

/* Reads a length and that many bytes. */
static int take_bytes(struct span *bytes, size_t limit, struct span *ret) {
  uint64_t len;
  int error = varint_decode(bytes, &len);
  if (error != 0) return error;
  return len <= limit && span_take(bytes, (size_t)len, ret) ? 0 : -EBADMSG;
}

/* Reads a text; a NUL is not clean. */
static int take_text(struct span *bytes, struct span *ret) {
  struct span text;
  int error = take_bytes(bytes, INDEX_NAME_BYTES_MAX, &text);
  if (error != 0) return error;
  if (!name_text_is_clean(text)) return -EBADMSG;
  *ret = text;
  return 0;
}

static int take_line(struct span *bytes, uint32_t *ret) {
  uint64_t line;
  int error = varint_decode(bytes, &line);
  if (error != 0) return error;
  if (line > UINT32_MAX) return -EBADMSG;
  *ret = (uint32_t)line;
  return 0;
}

static bool is_within(uint64_t start, uint64_t size) {
  return size > 0 && size <= UINT64_MAX - start;
}

/* ---- texts and functions of the source ---- */

static int take_texts(struct decoding *decoding) {
  int error = take_count(&decoding->bytes, TEXT_BYTES_MIN, &decoding->text_count);
  if (error != 0) return error;
  error =
      make_array(decoding->arena, decoding->text_count, sizeof *decoding->texts, &decoding->texts);
  if (error == 0)
    error = make_array(decoding->arena, decoding->text_count, sizeof *decoding->strings,
                       &decoding->strings);
  for (uint64_t i = 0; i < decoding->text_count && error == 0; i++)
    error = take_text(&decoding->bytes, &decoding->texts[i]);
  return error;
}

/* Reads the index of a text; RET is the string, or NULL. */
static int take_string(struct decoding *decoding, const char **ret) {
  uint64_t number;
  int error = varint_decode(&decoding->bytes, &number);
  if (error != 0) return error;
  if (number > decoding->text_count) return -EBADMSG;
  *ret = NULL;
  if (number == 0) return 0;
  const char **string = &decoding->strings[number - 1];
  struct span text = decoding->texts[number - 1];
  if (*string == NULL)
    *string = arena_string(decoding->arena, text.len > 0 ? (const char *)text.data : "", text.len);
  if (*string == NULL) return out_of_room(decoding->arena, text.len + 1);
  *ret = *string;
  return 0;
}

/* Stores NAME followed by SYSTEM_NAME, as symbol_frame_system_name expects them. */
static int join_names(struct arena *arena, const char *name, const char *system_name,
                      struct symbol_frame *frame) {
  size_t len = strlen(name) + 1, system_len = strlen(system_name) + 1;
  char *both = arena_alloc(arena, len + system_len);
  if (both == NULL) return out_of_room(arena, len + system_len);
  memcpy(both, name, len);
  memcpy(both + len, system_name, system_len);
  frame->name = both;
  frame->is_readable = true;
  return 0;
}

static int take_function(struct decoding *decoding, struct symbol_frame *ret) {
  struct symbol_frame frame = {.start = 0};
  const char *system_name = NULL;
  int error = take_string(decoding, &frame.name);
  if (error == 0) error = take_string(decoding, &system_name);
  if (error == 0) error = take_string(decoding, &frame.decl_file);
  if (error == 0) error = take_line(&decoding->bytes, &frame.decl_line);
  if (error == 0 && frame.name == NULL) error = -EBADMSG;
  if (error == 0 && system_name != NULL)
    error = join_names(decoding->arena, frame.name, system_name, &frame);
  if (error == 0) *ret = frame;
  return error;
}

static int take_functions(struct decoding *decoding) {
  int error = take_count(&decoding->bytes, SOURCE_BYTES_MIN, &decoding->function_count);
  if (error != 0) return error;
  error = make_array(decoding->arena, decoding->function_count, sizeof *decoding->functions,
                     &decoding->functions);
  for (uint64_t i = 0; i < decoding->function_count && error == 0; i++)
    error = take_function(decoding, &decoding->functions[i]);
  return error;
}

/* ---- places ---- */

/* A place and the code that contains it. */
struct spot {
  uint64_t start, size, address;
};

static int take_spot(struct span *bytes, bool is_same, struct spot *spot) {
  uint64_t step, size = spot->size, offset = 0, start = spot->start, address = spot->address;
  int error = varint_decode(bytes, &step);
  if (error == 0 && !is_same) error = varint_decode(bytes, &size);
  if (error == 0 && !is_same) error = varint_decode(bytes, &offset);
  if (error != 0) return error;
  if (step > UINT64_MAX - (is_same ? address : start)) return -EBADMSG;
  if (is_same) {
    address += step;
  } else {
    start += step;
    if (!is_within(start, size) || offset >= size) return -EBADMSG;
    address = start + offset;
  }
  if (address - start >= size) return -EBADMSG;
  *spot = (struct spot){start, size, address};
  return 0;
}

static int take_frame(struct decoding *decoding, const struct spot *spot,
                      struct symbol_frame *ret) {
  uint64_t number;
  int error = varint_decode(&decoding->bytes, &number);
  if (error != 0) return error;
  if (number >= decoding->function_count) return -EBADMSG;
  *ret = decoding->functions[number];
  ret->start = spot->start;
  ret->size = spot->size;
  error = take_string(decoding, &ret->file);
  return error != 0 ? error : take_line(&decoding->bytes, &ret->line);
}

static int take_place(struct decoding *decoding, struct spot *spot, struct place_name *ret) {
  uint64_t control;
  struct symbol_frame *frames;
  int error = varint_decode(&decoding->bytes, &control);
  uint64_t count = control >> 1;
  if (error != 0) return error;
  if (count == 0 || count > SYMBOL_CHAIN_MAX) return -EBADMSG;
  error = take_spot(&decoding->bytes, (control & 1) != 0, spot);
  if (error == 0 && count > decoding->bytes.len / FRAME_BYTES_MIN) error = -EBADMSG;
  if (error == 0) error = make_array(decoding->arena, count - 1, sizeof *frames, &frames);
  for (uint64_t i = 0; i < count && error == 0; i++) error = take_frame(decoding, spot, &frames[i]);
  if (error == 0) *ret = (struct place_name){spot->address, (uint32_t)count, frames};
  return error;
}

static int take_places(struct decoding *decoding, struct module_names *module) {
  uint64_t count;
  struct place_name *places;
  struct spot spot = {0};
  int error = take_count(&decoding->bytes, PLACE_BYTES_MIN, &count);
  if (error == 0) error = make_array(decoding->arena, count, sizeof *places, &places);
  for (uint64_t i = 0; error == 0 && i < count; i++)
    error = take_place(decoding, &spot, &places[i]);
  if (error != 0) return error;
  module->count = (uint32_t)count;
  module->places = places;
  return 0;
}

/* ---- version 1 ---- */

/* Reads a function as the place where it begins. */
static int take_lone_function(struct decoding *decoding, uint64_t *start, struct place_name *ret) {
  uint64_t step, size;
  struct span name;
  struct symbol_frame *frame;
  int error = varint_decode(&decoding->bytes, &step);
  if (error == 0) error = varint_decode(&decoding->bytes, &size);
  if (error == 0) error = take_text(&decoding->bytes, &name);
  if (error != 0) return error;
  if (step > UINT64_MAX - *start || !is_within(*start + step, size)) return -EBADMSG;
  error = make_array(decoding->arena, 0, sizeof *frame, &frame);
  if (error != 0) return error;
  *start += step;
  frame->start = *start;
  frame->size = size;
  frame->name = name.len > 0 ? arena_string(decoding->arena, name.data, name.len) : "";
  if (frame->name == NULL) return out_of_room(decoding->arena, name.len + 1);
  *ret = (struct place_name){*start, 1, frame};
  return 0;
}

static int take_lone_functions(struct decoding *decoding, struct module_names *module) {
  uint64_t count, start = 0;
  struct place_name *places;
  int error = take_count(&decoding->bytes, FUNCTION_BYTES_MIN, &count);
  if (error == 0) error = make_array(decoding->arena, count, sizeof *places, &places);
  for (uint64_t i = 0; error == 0 && i < count; i++)
    error = take_lone_function(decoding, &start, &places[i]);
  if (error != 0) return error;
  module->count = (uint32_t)count;
  module->places = places;
  return 0;
}

/* ---- modules ---- */

static int take_module(struct decoding *decoding, uint64_t version, struct module_names *ret) {
  uint64_t quality;
  bool is_of_functions = version == VERSION_OF_FUNCTIONS;
  enum names_quality best = is_of_functions ? NAMES_ALL : NAMES_DEBUG;
  int error = varint_decode(&decoding->bytes, &quality);
  if (error == 0) error = take_bytes(&decoding->bytes, LIMIT_MODULE_ID_BYTES, &ret->id);
  if (error != 0) return error;
  if (quality > (uint64_t)(best - NAMES_EXPORTED)) return -EBADMSG;
  ret->quality = NAMES_EXPORTED + (enum names_quality)quality;
  ret->is_of_functions = is_of_functions;
  return is_of_functions ? take_lone_functions(decoding, ret) : take_places(decoding, ret);
}

/* The maximum number of modules in LEN bytes. */
static size_t most_modules(size_t len) {
  size_t most = len / MODULE_BYTES_MIN;
  return most < FUNCTION_NAMES_MODULES_MAX ? most : FUNCTION_NAMES_MODULES_MAX;
}

static int take_modules(struct decoding *decoding, uint64_t version, struct module_names **ret,
                        uint32_t *ret_count) {
  size_t room = most_modules(decoding->bytes.len);
  uint32_t count = 0;
  struct module_names *modules;
  int error = make_array(decoding->arena, room, sizeof *modules, &modules);
  while (error == 0 && decoding->bytes.len > 0) {
    if (count == room) return room == FUNCTION_NAMES_MODULES_MAX ? -EOVERFLOW : -EBADMSG;
    error = take_module(decoding, version, &modules[count]);
    if (error == 0) count++;
  }
  if (error != 0) return error;
  *ret = modules;
  *ret_count = count;
  return 0;
}

int function_names_decode(struct span payload, struct arena *arena, struct module_names **ret,
                          uint32_t *ret_count) {
  struct decoding decoding = {.bytes = payload, .arena = arena};
  uint64_t version;
  int error = varint_decode(&decoding.bytes, &version);
  if (error != 0) return error;
  if (version > FUNCTION_NAMES_VERSION || version < VERSION_OF_FUNCTIONS) return -EPROTO;
  if (version != VERSION_OF_FUNCTIONS) error = take_texts(&decoding);
  if (error == 0 && version != VERSION_OF_FUNCTIONS) error = take_functions(&decoding);
  return error != 0 ? error : take_modules(&decoding, version, ret, ret_count);
}
