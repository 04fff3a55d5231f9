/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index on disk, version 3: what a sandboxed worker makes of one ELF file.

   A local cache, never sent anywhere, so it is in this machine's byte order; ORDER tells.

     header | section table | tables, each 8-aligned

   Pieces cut the address space so that each belongs to one symbol or to none; they are sorted, and
   overlapping symbols were resolved when they were made, so that one binary search answers.  A
   reader ignores sections of kinds that it does not know: inline chains, files and lines will be
   added as further kinds under the same version. */
#ifndef SYMBOL_INDEX_FORMAT_H
#define SYMBOL_INDEX_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define INDEX_MAGIC "fpsymidx"

enum {
  INDEX_VERSION = 3, /* raise it when better names are made too: older files are read again */
  INDEX_ORDER = 0x01020304,
  INDEX_SECTIONS_MAX = 16,
  INDEX_NAME_BYTES_MAX = 64 << 10, /* of one name, without the NUL */
  INDEX_SYMBOLS_MAX = 4 << 20,
};

#define INDEX_STRINGS_BYTES_MAX (1ULL << 30)
#define INDEX_NO_SYMBOL UINT32_MAX

enum index_kind {
  INDEX_SYMBOLS = 1, /* struct index_symbol, by start */
  INDEX_PIECES = 2,  /* struct index_piece, by start, strictly ascending */
  INDEX_STRINGS = 3, /* NUL-terminated UTF-8 without control characters; the last byte is NUL */
};

enum index_flag {
  INDEX_FROM_DYNSYM = 1, /* there was no .symtab: exported functions only */
  INDEX_HAS_DWARF = 2,   /* the file has .debug_info, not read yet */
};

struct index_header {
  char magic[8];
  uint32_t version;
  uint32_t order;
  uint64_t file_bytes;
  uint32_t section_count;
  uint32_t flags;
};

struct index_section {
  uint32_t kind;
  uint32_t entry_bytes;
  uint64_t offset; /* from the start of the file */
  uint64_t bytes;
};

struct index_symbol {
  uint64_t start, size;
  uint32_t name; /* offset in the strings; of "": only its bounds are known */
  uint32_t reserved;
};

struct index_piece {
  uint64_t start;  /* up to the next piece's */
  uint32_t symbol; /* INDEX_NO_SYMBOL: a gap; the last piece always is one */
  uint32_t reserved;
};

_Static_assert(sizeof(struct index_header) == 32, "on disk");
_Static_assert(sizeof(struct index_section) == 24, "on disk");
_Static_assert(sizeof(struct index_symbol) == 24, "on disk");
_Static_assert(sizeof(struct index_piece) == 16, "on disk");

#endif
