/* SPDX-License-Identifier: Apache-2.0 */
/* DIR/debug: whole files and indexes by SHA-256, partial uploads in a folder below. */
#ifndef NAMES_DEBUG_FOLDER_H
#define NAMES_DEBUG_FOLDER_H

#include "common/span.h"

enum {
  DEBUG_PATH_BYTES = 512,
  DEBUG_KEY_BYTES = 33, /* name of a partial upload, with its NUL */
};

struct debug_folder {
  char root[DEBUG_PATH_BYTES - 160]; /* leaves room for what the paths below add */
};

/* Makes the folders, mode 0700.  Returns 0, -ENAMETOOLONG, or -errno. */
int debug_folder_init(struct debug_folder *folder, const char *dir);

void debug_folder_file(const struct debug_folder *folder, const uint8_t sha256[32],
                       char path[DEBUG_PATH_BYTES]);
/* Of its symbols, or HAS_DWARF: of its debug information too. */
void debug_folder_index(const struct debug_folder *folder, const uint8_t sha256[32], bool has_dwarf,
                        char path[DEBUG_PATH_BYTES]);
void debug_folder_partial(const struct debug_folder *folder, const char *key,
                          char path[DEBUG_PATH_BYTES]);

/* The name of BOARD's upload for module ID; of the file SHA256, unless that is empty. */
void debug_folder_key(const char *board, struct span id, struct span sha256,
                      char key[DEBUG_KEY_BYTES]);

/* Removes file and indexes of SHA256 if they are there. */
void debug_folder_remove(const struct debug_folder *folder, const uint8_t sha256[32]);

/* Whether any whole file is there. */
bool debug_folder_has_files(const struct debug_folder *folder);

/* Calls IS_KNOWN for each whole file and removes those, with their indexes, for which it says no;
   where KEEPS, the files are moved to the folder ASIDE, which is empty otherwise.  Also removes
   whatever else lies there.  Returns how many were moved, or -errno. */
int debug_folder_sweep(const struct debug_folder *folder,
                       bool (*is_known)(void *context, const uint8_t sha256[32]), void *context,
                       bool keeps, char aside[DEBUG_PATH_BYTES]);

/* Renames the folder and its database (FOLDER.db) to *.corrupt, or *.corrupt-N, which stay until
   somebody deletes them.  Returns 0 with the folder's new name in ASIDE, or -errno. */
int debug_folder_set_aside(const struct debug_folder *folder, char aside[DEBUG_PATH_BYTES]);

/* Hashes all of the file PATH and makes it durable.  Returns 0 or -errno. */
int debug_folder_hash(const char *path, uint8_t ret_sha256[32]);

#endif
