/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers make a call of memset where a struct begins as zeros, whatever they are told of builtin
   functions.  libc's is in the loader's hands, may be resolved at its first call, and may be some
   other library's; so the agent has one of its own, which no other object sees. */
#include <stddef.h>

__attribute__((visibility("hidden"))) void *memset(void *bytes, int value, size_t len);

void *memset(void *bytes, int value, size_t len) {
  unsigned char *to = bytes;
  for (size_t i = 0; i < len; i++) to[i] = (unsigned char)value;
  return bytes;
}
