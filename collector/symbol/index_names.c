/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling takes microseconds, and a function stands in the debug information of every unit that
   includes its header. Linkers merge equal strings, so most repetitions are recognized by their
   address. */
#include "index_names.h"

#include "demangle.h"
#include "index_texts.h"
#include "name_text.h"

#include <errno.h>

/* A readable name and its mangled name fit in one block. */
_Static_assert(INDEX_NAME_BYTES_MAX + DEMANGLE_IN_BYTES_MAX + 2 <= INDEX_TEXT_BLOCK_BYTES, "names");

void index_names_fini(struct index_names *names) {
  interner_fini(&names->strings);
  table_fini(&names->by_place);
  buf_fini(&names->readable);
  buf_fini(&names->clean);
}

/* Adds the clean text without its NUL. */
static int add_clean(struct index_names *names, uint32_t *ret) {
  if (names->clean.failed) return -ENOMEM;
  struct span text = span_of(names->clean.data, names->clean.len - 1);
  names->strings.block_bytes = INDEX_TEXT_BLOCK_BYTES;
  return interner_string(&names->strings, text, INDEX_STRINGS_BYTES_MAX, ret);
}

int index_names_add_text(struct index_names *names, struct span raw, uint32_t *ret) {
  buf_clear(&names->clean);
  name_text_append(raw, INDEX_NAME_BYTES_MAX, &names->clean);
  return add_clean(names, ret);
}

/* Adds the symbol name RAW, preceded by its readable form if it has one. */
static int add_name(struct index_names *names, struct span raw, uint32_t *ret) {
  buf_clear(&names->readable);
  buf_clear(&names->clean);
  bool is_readable = demangle(raw, &names->readable);
  if (is_readable)
    name_text_append(buf_span(&names->readable), INDEX_NAME_BYTES_MAX, &names->clean);
  name_text_append(raw, INDEX_NAME_BYTES_MAX, &names->clean);
  uint32_t offset;
  int error = add_clean(names, &offset);
  if (error == 0) *ret = offset << 1 | is_readable;
  return error;
}

int index_names_add(struct index_names *names, struct span raw, uint32_t *ret) {
  uint64_t place = (uintptr_t)raw.data;
  uint32_t cursor;
  uint32_t known = table_find(&names->by_place, place, &cursor);
  if (known != TABLE_NONE) {
    *ret = known;
    return 0;
  }
  int error = add_name(names, raw, ret);
  return error != 0 ? error : table_add(&names->by_place, place, *ret);
}
