/* SPDX-License-Identifier: Apache-2.0 */
/* Finds names for the frames of a profile on the machine of the report. */
#ifndef REPORT_NAMER_H
#define REPORT_NAMER_H

#include "profile.h"

struct debug_folders;
struct lr_tables;
struct namer;
struct symbol_frame;
struct symbol_index;

enum { NAMER_FILE_MS = 30000 }; /* per file; a large file takes less than a second */

/* Starts the program that parses ELF files, each within FILE_MS.  Without that program no module
   has names, and namer_load returns the reason.  Returns 0 or -errno. */
int namer_open(unsigned file_ms, struct namer **ret);
void namer_close(struct namer *namer);

/* From now on searches FOLDERS (borrowed, or NULL) first. */
void namer_set_folders(struct namer *namer, struct debug_folders *folders);

/* Also uses files that this process has inherited open, for files without a path. */
void namer_use_inherited(struct namer *namer);

/* Searches the symbols of MODULE, number INDEX of its profile: in its separate debug file, or in
   the file itself if it is still the sampled one.  Without debug information there, uses the files
   of its twins, so that all twins have the same names.  Returns 0, or -errno with the reason in
   WHY.  Repeated calls return the same. */
int namer_load(struct namer *namer, uint32_t index, const struct profile_module *module,
               const char **ret_why);

/* Finds all functions at ADDRESS of module INDEX, which is loaded, as symbol_index_chain does.
   Texts are valid until namer_close; a name "" means that only its bounds are known.  Returns their
   number or -ENOENT. */
int namer_chain(const struct namer *namer, uint32_t index, uint64_t address,
                struct symbol_frame *frames);

/* True if the file of module INDEX is here and could not be read: namer_load has the reason. */
bool namer_is_unread(const struct namer *namer, uint32_t index);

/* The missing parts of the debug information of module INDEX, which is loaded, or "". */
const char *namer_lacks(const struct namer *namer, uint32_t index);

/* The symbols of module INDEX, or NULL; valid until namer_close. */
const struct symbol_index *namer_symbols(const struct namer *namer, uint32_t index);

/* The link-register tables of module INDEX, or NULL. */
const struct lr_tables *namer_lr(const struct namer *namer, uint32_t index);

/* The best quality of the names of module INDEX; NAMES_NONE if it was not loaded. */
enum names_quality namer_quality(const struct namer *namer, uint32_t index);

#endif
