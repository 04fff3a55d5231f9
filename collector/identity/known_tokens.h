/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens that visitors have shown lately, in memory: who asks here waits for no disk and for
   nobody who does. */
#ifndef IDENTITY_KNOWN_TOKENS_H
#define IDENTITY_KNOWN_TOKENS_H

#include "access.h"
#include "token.h"

#include <pthread.h>

enum { KNOWN_TOKENS_MAX = 1024 }; /* of them; the one used longest ago makes room */

struct known_token {
  uint8_t hash[TOKEN_HASH_BYTES];
  enum role role;
  int64_t expires_ms;
  int64_t used_s, written_s; /* last use: as seen here, and as the database has it; 0: none */
};

struct known_tokens { /* all-zero but for the lock is empty */
  pthread_mutex_t lock;
  unsigned count;
  struct known_token rows[KNOWN_TOKENS_MAX];
};

/* Returns the role of the token with HASH, whose use is noted, or ROLE_NONE when it is not known or
   has ended.  Any thread. */
enum role known_tokens_use(struct known_tokens *known, const uint8_t *hash, int64_t now_ms);

/* Notes what the database says of a token, or that it has no such one that is good.  Any thread. */
void known_tokens_put(struct known_tokens *known, const struct known_token *token);
void known_tokens_forget(struct known_tokens *known, const uint8_t *hash);

/* Copies all rows into RET, which has room for KNOWN_TOKENS_MAX.  Returns how many.  Any thread. */
unsigned known_tokens_copy(struct known_tokens *known, struct known_token *ret);

#endif
