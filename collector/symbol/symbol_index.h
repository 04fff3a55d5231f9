/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol index as a view of bytes: address -> functions, files, lines. */
#ifndef SYMBOL_SYMBOL_INDEX_H
#define SYMBOL_SYMBOL_INDEX_H

#include "common/span.h"
#include "index_rows.h"
#include "index_texts.h"
#include "lr_tables.h"

struct index_alias;

/* Borrows the bytes that it was parsed from; owns its unpacked texts. */
struct symbol_index {
  const struct index_block *blocks;
  const struct index_function *functions;
  const uint32_t *files;
  const struct index_alias *aliases;
  struct span rows, nodes;
  struct index_texts texts;
  uint32_t block_count, function_count, file_count, alias_count;
  uint32_t flags;      /* enum index_flag */
  struct lr_tables lr; /* tables about return addresses */
};

struct symbol_match {
  const char *name; /* "": only its bounds are known */
  uint64_t start, size;
};

/* Checks the header and the bounds of every table, in constant time. BYTES must be 8-aligned.
   Returns 0; -EPROTO for another version or byte order; -EBADMSG; -ENOMEM. Any thread. */
int symbol_index_parse(struct span bytes, struct symbol_index *ret);

/* Frees the unpacked texts; none of them may be in use. The bytes must still be valid. */
void symbol_index_fini(struct symbol_index *index);

/* Also checks every entry: order, references, clean names. For a new index from a process that may
   be compromised. Keeps nothing unpacked. Returns 0, -EBADMSG or -ENOMEM. Any thread. */
int symbol_index_verify(const struct symbol_index *index);

/* Finds the symbol of ADDRESS in the symbol table. Memory-safe on an index that was only parsed.
   Returns 0 or -ENOENT. Any thread. */
int symbol_index_find(const struct symbol_index *index, uint64_t address, struct symbol_match *ret);

enum { SYMBOL_CHAIN_MAX = 64 }; /* functions at one address; deeper chains lose their middle */

/* One function at an address. Texts belong to the index and are clean. */
struct symbol_frame {
  const char *name; /* readable; "": only its bounds are known */
  bool is_readable; /* it was demangled: the index has the raw name, too */
  const char *file; /* source file of the address, or of the call to the previous frame; or NULL */
  uint32_t line;    /* in that file; 0: unknown */
  const char *decl_file; /* file that declares the function, or NULL */
  uint32_t decl_line;    /* 0: unknown */
  uint64_t start, size;  /* of the symbol at the address, the same in the whole chain */
};

/* Returns the name of FRAME as in the file: the mangled name, if the index demangled it. */
static inline const char *symbol_frame_system_name(const struct symbol_frame *frame) {
  return frame->is_readable ? frame->name + strlen(frame->name) + 1 : frame->name;
}

/* Finds all functions at ADDRESS. FRAMES has the innermost inlined function first, the function
   itself last. Memory-safe on an index that was only parsed. Returns their number, at least 1, or
   -ENOENT. Any thread. */
int symbol_index_chain(const struct symbol_index *index, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

/* Finds the last named symbol that starts before ADDRESS, whether or not it reaches ADDRESS: name
   and bounds. The search is bounded. Memory-safe on an index that was only parsed. Returns 0 or
   -ENOENT. Any thread. */
int symbol_index_before(const struct symbol_index *index, uint64_t address,
                        struct symbol_frame *ret);

enum { SYMBOL_CURSOR_KEPT = 16 }; /* functions of a chain; deeper chains are not cached */

/* For many lookups of nearby addresses. Caches the last block and the last chain, whose outer
   functions the next chain often shares. One thread. */
struct symbol_cursor {
  const struct symbol_index *index; /* borrowed */
  uint32_t block;
  uint32_t row_count;
  struct index_row rows[INDEX_BLOCK_ROWS];
  uint64_t end; /* first address beyond the block */
  uint32_t kept_count;
  uint32_t kept_nodes[SYMBOL_CURSOR_KEPT];
  /* The file and line of the first frame are those of an arbitrary lookup. */
  struct symbol_frame kept_frames[SYMBOL_CURSOR_KEPT];
};

void symbol_cursor_init(struct symbol_cursor *cursor, const struct symbol_index *index);

/* As symbol_index_chain; fastest with ascending addresses. */
int symbol_cursor_chain(struct symbol_cursor *cursor, uint64_t address,
                        struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

#endif
