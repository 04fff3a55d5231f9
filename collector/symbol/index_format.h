/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol index on disk (INDEX_VERSION): made by a sandboxed worker from one file.

   A local cache that is never sent, so it is in this machine's byte order, which ORDER marks.
     header | section table | tables, each 8-aligned

   ROWS partition the address space. From its address to that of the next row, a row gives the code
   there (a node, or 0: a gap), and the source file and line of the code. Line 0 is unknown; file 0
   is the file where the function is declared. Rows are in blocks of INDEX_BLOCK_ROWS; BLOCKS is
   their directory, for a binary search. Most rows are one byte, below INDEX_SHORT_ROWS:

     (distance in bytes from the row before - 1) * INDEX_SHORT_LINES + line - line before -
     INDEX_SHORT_FIRST_LINE

   Others are: control; distance as a varint, except for a block's first row (its address is in the
   directory); then, depending on control, a node and a file as varints.

     control = zigzag(line - base line) << 3 | has file << 2 | context

   The first byte is INDEX_SHORT_ROWS + control if control is below INDEX_CONTROLS. Else it is
   INDEX_SHORT_ROWS + INDEX_CONTROLS + control % INDEX_CONTROLS, and control / INDEX_CONTROLS - 1
   follows as a varint.

   The last three places of a block that had different nodes are contexts, the latest first. A row
   of context 0 (short rows are), 1 or 2 takes its base line and file from that place. Context 3 is
   a new one: base line is that of the row before (0 at the head of a block), the file is 0, and a
   node follows. The node is 0 for a gap, else 1 + zigzag(node - previous new node). At the head of
   a block the previous new node is in the directory.

   NODES are functions in the code, including inlined ones. A node's reference is its offset; the
   byte at 0 is not a node. Its varints:

     of a function:  (function + 1) << 2 | has name << 1 | 1, name of its symbol when it is not that
                     of the function, its start - that of the first block, its size
     inlined:        function << 1, distance back to the node that calls it,
                     zigzag(line of the call - line where the calling function is declared) << 1 |
                     has file, and the file of the call when that is not the caller's

   FUNCTIONS are source functions, FILES their paths, counted from 1. An index of symbols alone has
   no functions: its nodes have symbols only. STRINGS are described in index_texts.h. */
#ifndef SYMBOL_INDEX_FORMAT_H
#define SYMBOL_INDEX_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define INDEX_MAGIC "fpsymidx"

enum {
  INDEX_VERSION = 11, /* increase it for better names too: files are then indexed again */
  INDEX_ORDER = 0x01020304,
  INDEX_SECTIONS_MAX = 16,
  INDEX_NAME_BYTES_MAX = 4 << 10, /* of one name, without the NUL; longer names are cut */
  INDEX_SYMBOLS_MAX = 4 << 20,
  INDEX_BLOCK_ROWS = 32,
  INDEX_CONTEXTS = 3,
  INDEX_SHORT_ROWS = 160,
  INDEX_SHORT_LINES = 10,
  INDEX_SHORT_FIRST_LINE = -3,
  INDEX_CONTROLS = 48,
  INDEX_DECL_MAX = (1 << 24) - 1, /* of a declaration's file and line */
  INDEX_NO_NODE = 0,
  INDEX_DEPTH_MAX = 256, /* functions inlined into each other */
};

#define INDEX_STRINGS_BYTES_MAX (256ULL << 20) /* unpacked */
#define INDEX_BLOB_BYTES_MAX (1ULL << 30)      /* of rows, and of nodes */
#define INDEX_NO_SYMBOL UINT32_MAX

enum index_kind {
  INDEX_STRINGS = 3,   /* packed: NUL-terminated UTF-8 without control characters */
  INDEX_FUNCTIONS = 4, /* struct index_function */
  INDEX_FILES = 5,     /* uint32_t: offset in the strings */
  INDEX_NODES = 6,
  INDEX_ROWS = 7,
  INDEX_BLOCKS = 8, /* struct index_block, by address, strictly ascending */
  INDEX_TEXTS = 9,
};

enum index_flag {
  INDEX_FROM_DYNSYM = 1, /* there was no .symtab: exported functions only */
  INDEX_HAS_DWARF = 2,   /* the file has .debug_info */
  INDEX_FROM_DWARF = 4,  /* .debug_info was read */
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

struct __attribute__((packed, aligned(2))) index_function {
  uint32_t name;           /* in the strings */
  uint64_t decl_file : 24; /* 0: unknown */
  uint64_t decl_line : 24; /* 0: unknown */
};

struct index_block {
  uint64_t address; /* of its first row */
  uint32_t offset;  /* in the rows */
  uint32_t node;    /* base of the first new node in the block */
};

_Static_assert(INDEX_SHORT_ROWS + 2 * INDEX_CONTROLS == 256, "first bytes");
_Static_assert(sizeof(struct index_header) == 32, "on disk");
_Static_assert(sizeof(struct index_section) == 24, "on disk");
_Static_assert(sizeof(struct index_function) == 10, "on disk");
_Static_assert(sizeof(struct index_block) == 16, "on disk");

#endif
