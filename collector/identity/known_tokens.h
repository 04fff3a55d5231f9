/* SPDX-License-Identifier: Apache-2.0 */
/* The recently used tokens, in memory: lookups never wait for a disk or for a thread that does. */
#ifndef IDENTITY_KNOWN_TOKENS_H
#define IDENTITY_KNOWN_TOKENS_H

#include "access.h"
#include "token.h"

#include <pthread.h>

enum { KNOWN_TOKENS_MAX = 1024 }; /* cached; the least recently used one is evicted */

struct known_token {
  uint8_t hash[TOKEN_HASH_BYTES];
  enum role role;
  int64_t expires_ms;
  int64_t used_s, written_s; /* last use: seen here, and stored in the database; 0: none */
};

struct known_tokens { /* all-zero, except for the lock, is empty */
  pthread_mutex_t lock;
  unsigned count;
  struct known_token rows[KNOWN_TOKENS_MAX];
};

/* Returns the role of the token with HASH and records its use; ROLE_NONE if it is not cached or has
   ended. Any thread. */
enum role known_tokens_use(struct known_tokens *known, const uint8_t *hash, int64_t now_ms);

/* Store the database's row of a token, or that it has no valid one. Any thread. */
void known_tokens_put(struct known_tokens *known, const struct known_token *token);
void known_tokens_forget(struct known_tokens *known, const uint8_t *hash);

/* Copies all rows to RET, which has room for KNOWN_TOKENS_MAX. Returns their number. Any thread. */
unsigned known_tokens_copy(struct known_tokens *known, struct known_token *ret);

#endif
