/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: authentication and operators' functions. */
#ifndef IDENTITY_ACCESS_TOKENS_H
#define IDENTITY_ACCESS_TOKENS_H

#include "access.h"

/* Returns the role of TOKEN if it is cached, and records its use; ROLE_NONE if it is not, or has
   ended. Never blocks. Any thread. */
enum role access_token_role(struct access *access, const char *token);

/* Looks up TOKEN in the database, so that access_token_role finds it. Blocks. Any thread. */
void access_token_learn(struct access *access, const char *token);

/* Looks up all cached tokens again, which ends revoked ones, and writes their last uses. If another
   process is writing, the uses wait for the next call. Returns 0 or -errno. Blocks. Any thread. */
int access_tokens_settle(struct access *access);

enum { ACCESS_TOKEN_ID_BYTES = 12 + 1 };

/* One token as listed for an operator; its text cannot be recovered. */
struct access_token {
  char id[ACCESS_TOKEN_ID_BYTES]; /* the first six bytes of its hash, hexadecimal */
  const char *prefix;             /* its first characters, as in the audit log */
  const char *role;
  const char *board; /* that it enrolls, or has enrolled; or NULL */
  int64_t made_s, until_s;
  int64_t used_s; /* last use, exact to about a minute; of an enroll token its only use; 0: none */
};

/* Calls ON_TOKEN for each token, the oldest first; expired ones are kept for a month. Returns 0,
   -errno, or the result of ON_TOKEN if that was not 0. Any thread. */
int access_tokens_list(struct access *access,
                       int (*on_token)(void *context, const struct access_token *token),
                       void *context);

/* Deletes the token ID, which may also be the token's text, and records that in the audit log.
   Collectors drop it from their cache within ten seconds. Returns 0, -ENOENT if there is none, or
   -errno. Any thread. */
int access_token_revoke(struct access *access, const char *id);

#endif
