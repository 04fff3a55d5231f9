/* SPDX-License-Identifier: Apache-2.0 */
/* (module, address) -> name. A sandboxed worker process makes one symbol index for each file; it is
   mapped read-only here. Names are derived late and never stored with samples. */
#ifndef NAMES_SYMBOLIZER_H
#define NAMES_SYMBOLIZER_H

#include "debug_store.h"

struct name_sources;
struct symbolizer;
struct symbol_frame;

/* Starts the worker process. */
int symbolizer_open(struct debug_store *debug, struct symbolizer **ret, char *error,
                    size_t error_len);
void symbolizer_close(struct symbolizer *symbolizer);

/* Continues reading files and debug information that the previous collector left unread. Later
   files are read in any case. */
void symbolizer_start(struct symbolizer *symbolizer);

/* Waits until no request and no debug information is left to read, at most MS milliseconds for
   each. Returns whether that is so. Any thread. */
bool symbolizer_settle(struct symbolizer *symbolizer, unsigned ms);

/* Indexes the symbols of the unread files that BOARD sent for module ID; their debug information
   follows in the background. Blocks until the indexes exist or the worker failed (bounded); several
   threads may call. Returns 0; -EBADMSG if BOARD's last file was rejected or is another module's
   (reason in debug_store_judge); -ENOENT if BOARD sees none; or -errno if no worker could be
   started. */
int symbolizer_prepare(struct symbolizer *symbolizer, const char *board, struct span id);

struct symbol {
  const char *name; /* UTF-8 without control characters, or "": only its bounds are known; valid
                       until symbolizer_close */
  uint64_t start, size;
  const char *file; /* that declares it, NULL without debug information */
  uint32_t line;
};

/* Finds the function that contains ADDRESS, not one that was inlined there. ADDRESS is in the
   module's own address space; pass return addresses minus 1. Returns 0, or -ENOENT if there is no
   file or no symbol. Any thread. */
int symbolizer_find(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol *ret);

/* Finds all functions that contain ADDRESS, inlined ones too, as symbol_index_chain does, into
   FRAMES of SYMBOL_CHAIN_MAX. Texts are valid until symbolizer_close. Returns their number or
   -ENOENT. Any thread. */
int symbolizer_chain(struct symbolizer *symbolizer, const char *board, struct span id,
                     uint64_t address, struct symbol_frame *frames);

/* The same; RET_QUALITY is that of the file that named them, DEBUG_NONE: none. */
int symbolizer_name(struct symbolizer *symbolizer, const char *board, struct span id,
                    uint64_t address, struct symbol_frame *frames, enum debug_quality *ret_quality);

/* Returns the files that name BOARD's module ID now; NULL: none. Waits for no file: unread files
   are read soon, and then found. Valid until symbolizer_close. Any thread. */
const struct name_sources *symbolizer_sources(struct symbolizer *symbolizer, const char *board,
                                              struct span id);

/* Finds the best file that BOARD may see for module ID, as debug_store_find does. Any thread. */
int symbolizer_file(struct symbolizer *symbolizer, const char *board, struct span id,
                    struct debug_file *ret);

struct translator_pool;

/* Sets the translators that are queried before the files; borrowed. Call before the first query. */
void symbolizer_set_translators(struct symbolizer *symbolizer, struct translator_pool *pool);
struct translator_pool *symbolizer_translators(const struct symbolizer *symbolizer);

#endif
