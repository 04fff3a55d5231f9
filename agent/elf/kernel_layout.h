/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of the running kernel and its loadable modules, and their identities. */
#ifndef ELF_KERNEL_LAYOUT_H
#define ELF_KERNEL_LAYOUT_H

#include "common/span.h"
#include "proto/limits.h"

enum { KERNEL_NAME_BYTES = 64, KERNEL_PIECES_MAX = 512, KERNEL_PATH_BYTES = 256 };

#define KERNEL_NAME "[kernel]"

/* An address in a piece is shipped as ADDRESS - base, which is the same after each boot. */
struct kernel_piece {
  char name[KERNEL_NAME_BYTES]; /* "[kernel]", "[MODULE]" */
  uint64_t start, end;          /* of its code, in this boot */
  uint64_t base;                /* the kernel's _text; the start of a module's .text */
  uint8_t id[LIMIT_MODULE_ID_BYTES];
  uint32_t id_bytes;
};

struct kernel_layout {
  struct kernel_piece *pieces; /* the kernel itself first */
  uint32_t count;              /* 0: see why */
  char why[128];
};

/* Reads the layout from /proc and /sys under ROOT ("" except in tests). Returns 0; or -EACCES if
   the kernel hides its addresses from this user, -ENOENT or -ENOMEM, with why set. */
int kernel_layout_read(const char *root, struct kernel_layout *ret);
/* Reads only the kernel's identity, which is visible to all users. Returns 0 or -ENOENT. */
int kernel_layout_read_id(const char *root, struct kernel_piece *ret);
void kernel_layout_fini(struct kernel_layout *layout);

/* The piece with ADDRESS in its code, or NULL. */
const struct kernel_piece *kernel_layout_find(const struct kernel_layout *layout, uint64_t address);

#endif
