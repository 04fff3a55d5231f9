/* SPDX-License-Identifier: Apache-2.0 */
/* One debug file of the store, and how good it is. */
#ifndef NAMES_DEBUG_FILE_H
#define NAMES_DEBUG_FILE_H

#include <stdint.h>

enum debug_quality {
  DEBUG_NONE = 0,
  DEBUG_BAD = 1,    /* the worker refused it, or died over it */
  DEBUG_BOUNDS = 2, /* no function has a name */
  DEBUG_DYNSYM = 3,
  DEBUG_MAP = 4, /* a list of symbols: all functions, seldom with sizes */
  DEBUG_SYMTAB = 5,
  DEBUG_DWARF = 6,
};

const char *debug_quality_name(enum debug_quality quality);

struct debug_file {
  char path[512];       /* of the file on disk */
  char index_path[512]; /* of its symbol index */
  uint8_t sha256[32];
  enum debug_quality quality; /* DEBUG_NONE until the worker has read it */
  uint64_t bytes;
};

enum { DEBUG_PUBLIC_MAX = 8 }; /* files of one module that are looked at for everybody */

#endif
