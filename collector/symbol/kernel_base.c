/* SPDX-License-Identifier: Apache-2.0 */
/* A vmlinux and its System.map have the kernel's link-time addresses, /proc/kallsyms those of one
   boot. A frame has neither, only the distance from _text (agent/elf/kernel_layout.c). A board's
   list has the same distances: its _text is at 0, and nothing changes.

   start_kernel beside _text or _stext identifies a kernel: all kernels have it, and no program.
   Symbols before _text (per-CPU data at 0) have no address in that space and are dropped. */
#include "kernel_base.h"

#include "symbol_set.h"

static const struct candidate *find(const struct symbol_set *set, const char *name) {
  for (uint32_t i = 0; i < set->count; i++)
    if (span_is_equal(set->candidates[i].name, span_of_string(name))) return &set->candidates[i];
  return NULL;
}

uint64_t kernel_base_apply(struct symbol_set *set) {
  const struct candidate *text = find(set, "_text");
  if (text == NULL) text = find(set, "_stext");
  if (text == NULL || find(set, "start_kernel") == NULL) return 0;
  uint64_t base = text->start;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < set->count; i++) {
    struct candidate moved = set->candidates[i];
    if (moved.start < base) continue;
    moved.start -= base;
    moved.limit -= base;
    set->candidates[kept++] = moved;
  }
  set->count = kept;
  return base;
}
