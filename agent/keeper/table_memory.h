/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of unwind tables, which all targets of this daemon map.  The worker writes it through
   a mapping that the supervisor created before any other; all other mappings are read-only.  Its
   contents never move during the daemon's life. */
#ifndef KEEPER_TABLE_MEMORY_H
#define KEEPER_TABLE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
  TABLE_MEMORY_BYTES_MIN = 512 << 10,
  TABLE_MEMORY_SHARE = 64, /* at most this fraction (1/64) of the board's memory */
};

/* All-zero except the descriptors: none. */
struct table_memory {
  uint8_t *base; /* NULL: none */
  size_t bytes;
  int fd;     /* for allocation, or -1 */
  int reader; /* passed to targets, or -1 */
};

/* Creates it: address space, with memory only for its contents.  Without it (RET is empty) stacks
   are unwound by frame pointers; returns the -errno with the reason, else 0. */
int table_memory_open(struct table_memory *ret);
void table_memory_close(struct table_memory *memory);

/* Returns a read-only descriptor of FD's file, which cannot be reopened for writing; or -errno. */
int table_memory_reader(int fd);

#endif
