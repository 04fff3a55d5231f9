/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens as visitors show them, and as an operator sees them. */
#ifndef IDENTITY_ACCESS_TOKENS_H
#define IDENTITY_ACCESS_TOKENS_H

#include "access.h"

/* Returns the role of TOKEN where that is known in memory, and notes the use; ROLE_NONE: it is not,
   or has ended.  Waits for nothing.  Any thread. */
enum role access_token_role(struct access *access, const char *token);

/* Asks the database for TOKEN, so that access_token_role knows it.  Blocks.  Any thread. */
void access_token_learn(struct access *access, const char *token);

/* Asks the database again for all tokens that are known, which is when one that was withdrawn ends,
   and writes when they were used.  Where another process is writing the uses wait for the next
   time.  Returns 0 or -errno.  Blocks.  Any thread. */
int access_tokens_settle(struct access *access);

#endif
