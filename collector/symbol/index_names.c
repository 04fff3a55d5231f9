/* SPDX-License-Identifier: Apache-2.0 */
/* Demangling takes microseconds and the same function stands in the debug information of every
   unit that includes its header.  Linkers merge equal strings, so most repetitions are known by
   where they are. */
#include "index_names.h"

#include "demangle.h"
#include "index_format.h"
#include "name_text.h"

#include <errno.h>

void index_names_fini(struct index_names *names) {
  interner_fini(&names->strings);
  table_fini(&names->by_place);
  buf_fini(&names->readable);
  buf_fini(&names->clean);
}

int index_names_add_text(struct index_names *names, struct span raw, uint32_t *ret) {
  buf_clear(&names->clean);
  name_text_append(raw, INDEX_NAME_BYTES_MAX, &names->clean);
  if (names->clean.failed) return -ENOMEM;
  struct span text = span_of(names->clean.data, names->clean.len - 1);
  return interner_string(&names->strings, text, INDEX_STRINGS_BYTES_MAX, ret);
}

int index_names_add(struct index_names *names, struct span raw, uint32_t *ret) {
  uint64_t place = (uintptr_t)raw.data;
  uint32_t cursor;
  uint32_t known = table_find(&names->by_place, place, &cursor);
  if (known != TABLE_NONE) {
    *ret = known;
    return 0;
  }
  buf_clear(&names->readable);
  struct span name = demangle(raw, &names->readable) ? buf_span(&names->readable) : raw;
  int error = index_names_add_text(names, name, ret);
  return error != 0 ? error : table_add(&names->by_place, place, *ret);
}
