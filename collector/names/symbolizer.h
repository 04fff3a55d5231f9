/* SPDX-License-Identifier: Apache-2.0 */
/* (module, address) -> name.  Symbol indexes are made once a file by a sandboxed worker process
   and mapped read-only here; names are a view, made late, never stored with samples. */
#ifndef NAMES_SYMBOLIZER_H
#define NAMES_SYMBOLIZER_H

#include "debug_store.h"

struct name_sources;
struct symbolizer;
struct symbol_frame;

/* Starts the worker process.  Call before the first thread is made. */
int symbolizer_open(struct debug_store *debug, struct symbolizer **ret, char *error,
                    size_t error_len);
void symbolizer_close(struct symbolizer *symbolizer);

/* Goes on with reading files, and debug information, that the last collector left unread; those
   that come from now on are read in any case. */
void symbolizer_start(struct symbolizer *symbolizer);

/* Waits until nothing that was asked for, and no debug information, waits to be read, MS at most
   for each.  Returns whether that is so.  Any thread. */
bool symbolizer_settle(struct symbolizer *symbolizer, unsigned ms);

/* Has the symbols of the files that BOARD sent for module ID, and no worker has read, indexed now;
   their debug information follows in the background.
   Blocks until they are there or the worker gave up (bounded); several threads may call.  Returns
   0; -EBADMSG when the one that BOARD sent last was refused or is another module's
   (debug_store_judge says why); -ENOENT when BOARD sees none; or -errno when no worker could be
   had. */
int symbolizer_prepare(struct symbolizer *symbolizer, const char *board, struct span id);

struct symbol {
  const char *name; /* UTF-8 without control characters, or "": only its bounds are known; valid
                       until symbolizer_close */
  uint64_t start, size;
  const char *file; /* that declares it, NULL where no debug information tells */
  uint32_t line;
};

/* Finds the function that holds ADDRESS, not one that was inlined there (the module's own address
   space; pass return addresses minus 1).  Returns 0, or -ENOENT when there is no file or no symbol
   there.  Any thread. */
int symbolizer_find(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol *ret);

/* Finds all functions that hold ADDRESS, inlined ones too, as symbol_index_chain does, into FRAMES
   of SYMBOL_CHAIN_MAX; texts are valid until symbolizer_close.  Returns their number or -ENOENT.
   Any thread. */
int symbolizer_chain(struct symbolizer *symbolizer, const char *board, struct span id,
                     uint64_t address, struct symbol_frame *frames);

/* The same; RET_QUALITY is that of the file that named them, DEBUG_NONE: none. */
int symbolizer_name(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol_frame *frames, enum debug_quality *ret_quality);

/* The files that BOARD's module ID is named by now; NULL: there is none.  Waits for no file: what
   was not read yet is read soon, and then found.  Valid until symbolizer_close.  Any thread. */
const struct name_sources *symbolizer_sources(struct symbolizer *symbolizer, const char *board,
                                              struct span id);

/* Finds the best file that BOARD may see for module ID, as debug_store_find does.  Any thread. */
int symbolizer_file(struct symbolizer *symbolizer, const char *board, struct span id,
                    struct debug_file *ret);

struct translator_pool;

/* Says who is asked for names before the files are; borrowed.  Before the first query. */
void symbolizer_set_translators(struct symbolizer *symbolizer, struct translator_pool *pool);
struct translator_pool *symbolizer_translators(const struct symbolizer *symbolizer);

#endif
