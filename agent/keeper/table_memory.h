/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of unwind tables that all targets of this daemon map: written by the worker, through a
   mapping that the keeper made before anybody could have another, and read-only to everybody else.
   What was put into it stays where it is for as long as the daemon lives. */
#ifndef KEEPER_TABLE_MEMORY_H
#define KEEPER_TABLE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

enum {
  TABLE_MEMORY_BYTES_MIN = 512 << 10,
  TABLE_MEMORY_SHARE = 64, /* of the board's memory, at most one part in so many */
};

/* All zero but the descriptors: there is none. */
struct table_memory {
  uint8_t *base; /* NULL: there is none */
  size_t bytes;
  int fd;     /* to allocate by, or -1 */
  int reader; /* what targets get, or -1 */
};

/* Makes it: address space, and memory only for what is put into it.  Without one (RET is empty)
   targets are walked along frame pointers; returns the -errno that says why, else 0. */
int table_memory_open(struct table_memory *ret);
void table_memory_close(struct table_memory *memory);

/* A descriptor of FD's file that nobody can write through, nor anybody else open for that.  Returns
   it, or -errno. */
int table_memory_reader(int fd);

#endif
