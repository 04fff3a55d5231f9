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
  char root[DEBUG_PATH_BYTES - 160]; /* leaves room for the rest of the paths */
};

/* Makes the folders, mode 0700. Returns 0, -ENAMETOOLONG, or -errno. */
int debug_folder_init(struct debug_folder *folder, const char *dir);

void debug_folder_file(const struct debug_folder *folder, const uint8_t sha256[32],
                       char path[DEBUG_PATH_BYTES]);
/* The path of the index of its symbols or, if HAS_DWARF, also of its debug information. */
void debug_folder_index(const struct debug_folder *folder, const uint8_t sha256[32], bool has_dwarf,
                        char path[DEBUG_PATH_BYTES]);
void debug_folder_partial(const struct debug_folder *folder, const char *key,
                          char path[DEBUG_PATH_BYTES]);

/* Makes the key of BOARD's upload for module ID, and for the file SHA256 unless that is empty. */
void debug_folder_key(const char *board, struct span id, struct span sha256,
                      char key[DEBUG_KEY_BYTES]);

/* Removes the file and the indexes of SHA256 if they exist. */
void debug_folder_remove(const struct debug_folder *folder, const uint8_t sha256[32]);

/* Whether the folder has any whole file. */
bool debug_folder_has_files(const struct debug_folder *folder);

/* Removes whole files for which IS_KNOWN returns false, with their indexes. If KEEPS is set, these
   files are moved to the folder ASIDE instead; otherwise ASIDE is empty. Also removes all other
   files in the folder. Returns the number of moved files, or -errno. */
int debug_folder_sweep(const struct debug_folder *folder,
                       bool (*is_known)(void *context, const uint8_t sha256[32]), void *context,
                       bool keeps, char aside[DEBUG_PATH_BYTES]);

/* Renames the folder and its database (FOLDER.db) to *.corrupt-N; both stay until an operator
   deletes them. Returns 0 with the folder's new name in ASIDE, or -errno. */
int debug_folder_set_aside(const struct debug_folder *folder, char aside[DEBUG_PATH_BYTES]);

/* Hashes the whole file PATH and makes it durable. Returns 0 or -errno. */
int debug_folder_hash(const char *path, uint8_t ret_sha256[32]);

#endif
