/* SPDX-License-Identifier: Apache-2.0 */
/* Two files that say the same build-id and cannot be of one build. */
#ifndef NAMES_RIVAL_FILE_H
#define NAMES_RIVAL_FILE_H

#include "debug_store.h"

/* What a refusal for that reason begins with. */
#define RIVAL_FILE_REASON "another file of this build-id is here"

/* Whether WHY, of debug_store_write or debug_store_judge, is such a refusal. */
bool rival_file_is_why(const char *why);

/* Finds a file with a symbol table that an operator sent, that says FILE's build-id and contradicts
   it; FILE's index of symbols is there.  Returns 0; -ENOENT: there is none, or FILE is no
   operator's; or another -errno.  Any thread. */
int rival_file_find(struct debug_store *store, const struct debug_file *file,
                    uint8_t ret_sha256[32]);

/* The same of SHA256, which an operator sends now and only boards had sent before: its index is
   there if it was read.  A list of symbols contradicts nothing. */
int rival_file_find_of_new(struct debug_store *store, const uint8_t sha256[32],
                           uint8_t ret_sha256[32]);

/* Says in WHY that file RIVAL is there. */
void rival_file_print(const uint8_t rival[32], char *why, size_t why_len);

#endif
