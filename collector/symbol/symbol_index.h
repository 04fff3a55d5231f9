/* SPDX-License-Identifier: Apache-2.0 */
/* A symbol index as a view of bytes: address -> functions, files, lines. */
#ifndef SYMBOL_SYMBOL_INDEX_H
#define SYMBOL_SYMBOL_INDEX_H

#include "common/span.h"
#include "index_rows.h"
#include "index_texts.h"
#include "lr_tables.h"

struct index_alias;

/* Borrows the bytes that it was parsed from; owns the texts that it has unpacked. */
struct symbol_index {
  const struct index_block *blocks;
  const struct index_function *functions;
  const uint32_t *files;
  const struct index_alias *aliases;
  struct span rows, nodes;
  struct index_texts texts;
  uint32_t block_count, function_count, file_count, alias_count;
  uint32_t flags;      /* enum index_flag */
  struct lr_tables lr; /* about return addresses */
};

struct symbol_match {
  const char *name; /* "": only its bounds are known */
  uint64_t start, size;
};

/* Checks header and bounds of every table, in constant time.  BYTES must be 8-aligned.  Returns 0;
   -EPROTO for another version or byte order; -EBADMSG; -ENOMEM.  Any thread. */
int symbol_index_parse(struct span bytes, struct symbol_index *ret);

/* Frees what it has unpacked, while the bytes are still there: no text of it may be in use. */
void symbol_index_fini(struct symbol_index *index);

/* Checks every entry too: order, references, names clean.  For an index that has just been made by
   a process that may have been taken over.  Keeps nothing unpacked.  Returns 0, -EBADMSG or
   -ENOMEM.  Any thread. */
int symbol_index_verify(const struct symbol_index *index);

/* Finds the symbol that ADDRESS belongs to, as the symbol table has it.  Safe on an index that was
   only parsed, whatever it holds.  Returns 0 or -ENOENT.  Any thread. */
int symbol_index_find(const struct symbol_index *index, uint64_t address, struct symbol_match *ret);

enum { SYMBOL_CHAIN_MAX = 64 }; /* functions at one address; deeper ones lose their middle */

/* One function at an address.  Texts are the index's and clean. */
struct symbol_frame {
  const char *name; /* readable; "": only its bounds are known */
  bool is_readable; /* it was made so: the index has the name in the file, too */
  const char *file; /* source file of the address, or of the call to the frame before; or NULL */
  uint32_t line;    /* there; 0: not known */
  const char *decl_file; /* where the function itself is declared, or NULL */
  uint32_t decl_line;    /* 0: not known */
  uint64_t start, size;  /* of the symbol at the address, the same in the whole chain */
};

/* The name of FRAME as the file has it: mangled, where it is a readable one of an index. */
static inline const char *symbol_frame_system_name(const struct symbol_frame *frame) {
  return frame->is_readable ? frame->name + strlen(frame->name) + 1 : frame->name;
}

/* Finds all functions at ADDRESS: FRAMES gets the innermost inlined one first, the function itself
   last.  Safe on an index that was only parsed, whatever it holds.  Returns their number, 1 at
   least, or -ENOENT.  Any thread. */
int symbol_index_chain(const struct symbol_index *index, uint64_t address,
                       struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

/* Finds the last symbol with a name that starts before ADDRESS, whether it reaches there or not, as
   the symbol table has it: name and bounds; how far it looks is bounded.  Safe on an index that was
   only parsed, whatever it holds.  Returns 0 or -ENOENT.  Any thread. */
int symbol_index_before(const struct symbol_index *index, uint64_t address,
                        struct symbol_frame *ret);

enum { SYMBOL_CURSOR_KEPT = 16 }; /* functions of a chain; deeper ones are looked up anew */

/* For many lookups of addresses near each other: keeps the block that it read last, and the chain
   that it found last, of which the next has the outer functions too.  One thread. */
struct symbol_cursor {
  const struct symbol_index *index; /* borrowed */
  uint32_t block;
  uint32_t row_count;
  struct index_row rows[INDEX_BLOCK_ROWS];
  uint64_t end; /* first address beyond the block */
  uint32_t kept_count;
  uint32_t kept_nodes[SYMBOL_CURSOR_KEPT];
  /* File and line of the first are those of any lookup. */
  struct symbol_frame kept_frames[SYMBOL_CURSOR_KEPT];
};

void symbol_cursor_init(struct symbol_cursor *cursor, const struct symbol_index *index);

/* As symbol_index_chain; fastest when ADDRESS ascends. */
int symbol_cursor_chain(struct symbol_cursor *cursor, uint64_t address,
                        struct symbol_frame frames[SYMBOL_CHAIN_MAX]);

#endif
