/* SPDX-License-Identifier: Apache-2.0 */
/* Names for the frames of a profile, found on the machine where the report is made. */
#ifndef REPORT_NAMER_H
#define REPORT_NAMER_H

#include "profile.h"

struct debug_folders;
struct lr_tables;
struct namer;
struct symbol_frame;
struct symbol_index;

enum { NAMER_FILE_MS = 30000 }; /* for one file; a big one takes under a second */

/* Starts the program that reads ELF files, each within FILE_MS.  Without that program no module has
   names, and is told why.  Returns 0 or -errno. */
int namer_open(unsigned file_ms, struct namer **ret);
void namer_close(struct namer *namer);

/* Looks into FOLDERS (borrowed, or NULL) before anywhere else from now on. */
void namer_set_folders(struct namer *namer, struct debug_folders *folders);

/* Looks into the files that this process has inherited open as well, for what no path leads to. */
void namer_use_inherited(struct namer *namer);

/* Looks for the symbols of MODULE, number INDEX of its profile: its separate debug file, or the
   file itself where it still is what was sampled; without debug information there, what its twins
   have, so that all of them have the same names.  Returns 0, or -errno with WHY saying why it has
   none. Asked again, it says the same. */
int namer_load(struct namer *namer, uint32_t index, const struct profile_module *module,
               const char **ret_why);

/* Finds all functions at ADDRESS of module INDEX, loaded before, as symbol_index_chain does.
   Texts ("" for a name: only its bounds are known) are valid until namer_close.  Returns their
   number or -ENOENT. */
int namer_chain(const struct namer *namer, uint32_t index, uint64_t address,
                struct symbol_frame *frames);

/* What of the debug information of module INDEX, loaded before, could not be had, or "". */
const char *namer_lacks(const struct namer *namer, uint32_t index);

/* The symbols of module INDEX, or NULL; valid until namer_close. */
const struct symbol_index *namer_symbols(const struct namer *namer, uint32_t index);

/* What the code of module INDEX tells of return addresses, or NULL. */
const struct lr_tables *namer_lr(const struct namer *namer, uint32_t index);

/* What the names of module INDEX are worth at best; NAMES_NONE: it was not loaded. */
enum names_quality namer_quality(const struct namer *namer, uint32_t index);

#endif
