/* SPDX-License-Identifier: Apache-2.0 */
/* A cache of tokens. Authentication runs on an event loop, which must not query SQLite: a query
   would wait for the thread that holds the connection during a commit. Recording a token's last use
   is a commit, too.

   So a thread queries the database once for a token that is not cached (access_token_learn), and
   again for all of them every few seconds (access_tokens_settle). Last uses are written then, too.
   A revoked token works for those seconds. Tokens that are not in the database are not cached:
   unauthenticated peers cannot fill the rows. */
#include "known_tokens.h"

#include <string.h>

enum { TOKEN_NOTE_S = 60 /* resolution of a token's last use */ };

static struct known_token *find(struct known_tokens *known, const uint8_t *hash) {
  for (unsigned i = 0; i < known->count; i++)
    if (memcmp(known->rows[i].hash, hash, TOKEN_HASH_BYTES) == 0) return &known->rows[i];
  return NULL;
}

/* Returns a free row, or the least recently used one. */
static struct known_token *make_room(struct known_tokens *known) {
  if (known->count < KNOWN_TOKENS_MAX) return &known->rows[known->count++];
  struct known_token *oldest = &known->rows[0];
  for (unsigned i = 1; i < known->count; i++)
    if (known->rows[i].used_s < oldest->used_s) oldest = &known->rows[i];
  return oldest;
}

enum role known_tokens_use(struct known_tokens *known, const uint8_t *hash, int64_t now_ms) {
  enum role role = ROLE_NONE;
  pthread_mutex_lock(&known->lock);
  struct known_token *token = find(known, hash);
  if (token != NULL && token->expires_ms > now_ms) {
    role = token->role;
    /* For an enroll token, used_s means that it has enrolled a board. */
    if (role != ROLE_ENROLL && now_ms / 1000 - token->used_s >= TOKEN_NOTE_S)
      token->used_s = now_ms / 1000;
  }
  pthread_mutex_unlock(&known->lock);
  return role;
}

void known_tokens_put(struct known_tokens *known, const struct known_token *token) {
  pthread_mutex_lock(&known->lock);
  struct known_token *row = find(known, token->hash);
  int64_t used_s = row != NULL ? row->used_s : 0;
  if (row == NULL) row = make_room(known);
  *row = *token;
  row->used_s = used_s > token->written_s ? used_s : token->written_s;
  pthread_mutex_unlock(&known->lock);
}

void known_tokens_forget(struct known_tokens *known, const uint8_t *hash) {
  pthread_mutex_lock(&known->lock);
  struct known_token *row = find(known, hash);
  if (row != NULL) *row = known->rows[--known->count];
  pthread_mutex_unlock(&known->lock);
}

unsigned known_tokens_copy(struct known_tokens *known, struct known_token *ret) {
  pthread_mutex_lock(&known->lock);
  unsigned count = known->count;
  memcpy(ret, known->rows, count * sizeof *ret);
  pthread_mutex_unlock(&known->lock);
  return count;
}
