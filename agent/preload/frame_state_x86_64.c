/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel saves a thread's state in XSAVE's standard format, in which each component has a fixed
   offset. The tile data of AMX (8 KiB) is the only component that a process must request. A thread
   that never used it gets a frame without it, although AT_MINSIGSTKSZ includes it. The permission
   holds for the whole process and its forked children, and ends with an exec. */
#include "frame_state.h"
#include "raw_syscall.h"

#include <cpuid.h>
#include <stdint.h>

enum {
  TILE_DATA = 18, /* bit of XCR0 */
  COMPONENTS = 64,
  LEGACY_BYTES = 512 + 64, /* x87 and SSE with XSAVE's header: components 0 and 1 */
  STATE_LEAF = 0xd,
};

enum { GET_PERMISSIONS = 0x1022 }; /* <asm/prctl.h> of Linux 5.16 */

/* The components that the kernel has enabled. */
static uint64_t enabled_components(void) {
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0) return 0;
  __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
  return (uint64_t)d << 32 | a;
}

void frame_state_read(struct frame_state *ret) {
  unsigned size, offset, c, d;
  uint64_t enabled = enabled_components();
  ret->usual_bytes = ret->most_bytes = LEGACY_BYTES;
  for (unsigned i = 2; i < COMPONENTS; i++) {
    if ((enabled >> i & 1) == 0) continue;
    __cpuid_count(STATE_LEAF, i, size, offset, c, d);
    size_t end = (size_t)size + offset;
    if (end > ret->most_bytes) ret->most_bytes = end;
    if (i != TILE_DATA && end > ret->usual_bytes) ret->usual_bytes = end;
  }
}

bool frame_state_is_permitted(void) {
  uint64_t permitted = 0;
  if (raw_syscall(SYS_arch_prctl, GET_PERMISSIONS, (uintptr_t)&permitted, 0, 0) != 0) return false;
  return (permitted >> TILE_DATA & 1) != 0;
}
