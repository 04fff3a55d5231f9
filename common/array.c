/* SPDX-License-Identifier: Apache-2.0 */
#include "array.h"

#include <stdlib.h>

void *array_grow(void *array, uint32_t count, uint32_t *room, uint32_t first, size_t entry_bytes) {
  if (count < *room) return array;
  if (*room > UINT32_MAX / 2) return NULL;
  uint32_t wanted = *room > 0 ? *room * 2 : first;
  void *grown = reallocarray(array, wanted, entry_bytes);
  if (grown != NULL) *room = wanted;
  return grown;
}
