/* SPDX-License-Identifier: Apache-2.0 */
/* Names as bytes.

   A file holds a few hundred functions a program, of the hundred thousand that its libraries have,
   so there is nothing to share between names: one after the other and zstd over all of it takes
   some 20 bytes a function.

   What is read was written by a stranger.  A count is believed only as far as the bytes behind it
   can bear (a function takes three at least), memory is the arena's, whose limit is the caller's,
   and a name that is no clean text, an end beyond 64 bits or an order that would mislead the search
   makes the whole payload bad: nobody's writer makes such. */
#include "function_names.h"

#include "common/arena.h"
#include "common/buf.h"
#include "proto/limits.h"
#include "proto/varint.h"
#include "symbol/index_format.h"
#include "symbol/name_text.h"

#include <errno.h>

enum {
  FUNCTION_BYTES_MIN = 3,
  MODULE_BYTES_MIN = 3,
};

void function_names_begin(struct buf *ret) {
  varint_encode(ret, FUNCTION_NAMES_VERSION);
}

void function_names_append(const struct module_names *module, struct buf *ret) {
  uint64_t before = 0;
  varint_encode(ret, module->quality);
  varint_encode(ret, module->id.len);
  buf_append(ret, module->id.data, module->id.len);
  varint_encode(ret, module->count);
  for (uint32_t i = 0; i < module->count; i++) {
    const struct function_name *function = &module->functions[i];
    size_t len = strlen(function->name);
    varint_encode(ret, function->start - before);
    varint_encode(ret, function->size);
    varint_encode(ret, len);
    buf_append(ret, function->name, len);
    before = function->start;
  }
}

static int out_of_room(const struct arena *arena, size_t len) {
  return arena_is_over(arena, len) ? -EOVERFLOW : -ENOMEM;
}

/* Takes a length and as many bytes. */
static int take_bytes(struct span *bytes, size_t limit, struct span *ret) {
  uint64_t len;
  int error = varint_decode(bytes, &len);
  if (error != 0) return error;
  return len <= limit && span_take(bytes, (size_t)len, ret) ? 0 : -EBADMSG;
}

static bool is_in_order(const struct function_name *before, const struct function_name *after) {
  return before->start < after->start ||
         (before->start == after->start && before->size >= after->size);
}

static int take_function(struct span *bytes, uint64_t before, struct arena *arena,
                         struct function_name *ret) {
  uint64_t step, size;
  struct span name;
  int error = varint_decode(bytes, &step);
  if (error == 0) error = varint_decode(bytes, &size);
  if (error == 0) error = take_bytes(bytes, INDEX_NAME_BYTES_MAX, &name);
  if (error != 0) return error;
  if (step > UINT64_MAX - before || size == 0 || size > UINT64_MAX - before - step) return -EBADMSG;
  if (!name_text_is_clean(name)) return -EBADMSG; /* a NUL is not clean */
  const char *text = name.len > 0 ? arena_string(arena, name.data, name.len) : "";
  if (text == NULL) return out_of_room(arena, name.len + 1);
  *ret = (struct function_name){before + step, size, text};
  return 0;
}

static int take_functions(struct span *bytes, struct arena *arena, struct module_names *module) {
  uint64_t count, before = 0;
  int error = varint_decode(bytes, &count);
  if (error != 0) return error;
  if (count > bytes->len / FUNCTION_BYTES_MIN) return -EBADMSG;
  struct function_name *functions = arena_array(arena, (size_t)count + 1, sizeof *functions);
  if (functions == NULL) return out_of_room(arena, ((size_t)count + 1) * sizeof *functions);
  for (uint64_t i = 0; i < count; i++) {
    error = take_function(bytes, before, arena, &functions[i]);
    if (error == 0 && i > 0 && !is_in_order(&functions[i - 1], &functions[i])) error = -EBADMSG;
    if (error != 0) return error;
    before = functions[i].start;
  }
  module->count = (uint32_t)count;
  module->functions = functions;
  return 0;
}

static int take_module(struct span *bytes, struct arena *arena, struct module_names *ret) {
  uint64_t quality;
  int error = varint_decode(bytes, &quality);
  if (error == 0) error = take_bytes(bytes, LIMIT_MODULE_ID_BYTES, &ret->id);
  if (error != 0) return error;
  if (quality > NAMES_ALL) return -EBADMSG;
  ret->quality = (enum names_quality)quality;
  return take_functions(bytes, arena, ret);
}

/* How many modules there can be in LEN bytes. */
static size_t most_modules(size_t len) {
  size_t most = len / MODULE_BYTES_MIN;
  return most < FUNCTION_NAMES_MODULES_MAX ? most : FUNCTION_NAMES_MODULES_MAX;
}

int function_names_decode(struct span payload, struct arena *arena, struct module_names **ret,
                          uint32_t *ret_count) {
  uint64_t version;
  uint32_t count = 0;
  int error = varint_decode(&payload, &version);
  if (error != 0) return error;
  if (version != FUNCTION_NAMES_VERSION) return -EPROTO;
  size_t room = most_modules(payload.len);
  struct module_names *modules = arena_array(arena, room + 1, sizeof *modules);
  if (modules == NULL) return out_of_room(arena, (room + 1) * sizeof *modules);
  while (payload.len > 0 && error == 0) {
    if (count == room) return room == FUNCTION_NAMES_MODULES_MAX ? -EOVERFLOW : -EBADMSG;
    error = take_module(&payload, arena, &modules[count]);
    if (error == 0) count++;
  }
  if (error != 0) return error;
  *ret = modules;
  *ret_count = count;
  return 0;
}
