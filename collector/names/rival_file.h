/* SPDX-License-Identifier: Apache-2.0 */
/* Two files that claim the same build-id but cannot be of one build. */
#ifndef NAMES_RIVAL_FILE_H
#define NAMES_RIVAL_FILE_H

#include "debug_store.h"

/* Start of the reason of a rejection. */
#define RIVAL_FILE_REASON "another file of this build-id is here"

/* Whether WHY, of debug_store_write or debug_store_judge, is a rejection for that reason. */
bool rival_file_is_why(const char *why);

/* Finds an operator's file with a symbol table and FILE's build-id that contradicts FILE. FILE's
   symbol index must exist. Returns 0; -ENOENT if there is none, or FILE is not an operator's; or
   another -errno. Any thread. */
int rival_file_find(struct debug_store *store, const struct debug_file *file,
                    uint8_t ret_sha256[32]);

/* The same for SHA256, which an operator is sending and only boards had sent before. Its index
   exists if it was read. A list of symbols contradicts nothing. */
int rival_file_find_of_new(struct debug_store *store, const uint8_t sha256[32],
                           uint8_t ret_sha256[32]);

/* Writes to WHY that file RIVAL is in the store. */
void rival_file_print(const uint8_t rival[32], char *why, size_t why_len);

#endif
