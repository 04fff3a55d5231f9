/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers call memset where a struct is zeroed, even with -fno-builtin. libc's memset is bound by
   the loader, perhaps at its first call, and may belong to another library. So the agent has its
   own, hidden from all other objects. */
#include <stddef.h>

__attribute__((visibility("hidden"))) void *memset(void *bytes, int value, size_t len);

void *memset(void *bytes, int value, size_t len) {
  unsigned char *to = bytes;
  for (size_t i = 0; i < len; i++) to[i] = (unsigned char)value;
  return bytes;
}
