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

enum { ACCESS_TOKEN_ID_BYTES = 12 + 1 };

/* One token as an operator sees it; none can be shown again. */
struct access_token {
  char id[ACCESS_TOKEN_ID_BYTES]; /* the first six bytes of its hash, hexadecimal */
  const char *prefix;             /* its first characters, as in the audit log */
  const char *role;
  const char *board; /* that it enrolls, or has enrolled; or NULL */
  int64_t made_s, until_s;
  int64_t used_s; /* last use, a minute or so exact; of an enroll token its only one; 0: none */
};

/* Calls ON_TOKEN for each token, the oldest first; those that have ended are kept for a month.
   Returns 0, -errno, or what ON_TOKEN returned when that was not 0.  Any thread. */
int access_tokens_list(struct access *access,
                       int (*on_token)(void *context, const struct access_token *token),
                       void *context);

/* Forgets the token called ID, which may be the token itself, and notes it in the audit log.
   Collectors that know it have forgotten it ten seconds later.  Returns 0, -ENOENT when there is
   none, or -errno.  Any thread. */
int access_token_revoke(struct access *access, const char *id);

#endif
