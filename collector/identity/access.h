/* SPDX-License-Identifier: Apache-2.0 */
/* Who may do what: tokens (only their hash is kept), boards, revocations, in DIR/access.db.  Safe
   to use from several processes at once: `token` and `revoke` run beside the collector. */
#ifndef IDENTITY_ACCESS_H
#define IDENTITY_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;

enum role { ROLE_NONE, ROLE_ENROLL, ROLE_READ, ROLE_SYMBOLS, ROLE_INGEST, ROLE_ADMIN };

/* Returns the role called NAME, or ROLE_NONE. */
enum role role_find(const char *name);

int access_open(const char *dir, struct access **ret, char *error, size_t error_len);
void access_close(struct access *access);

enum { ACCESS_TOKEN_BYTES = 160 };

/* Makes a token for ROLE that ends after TTL_NS and writes its text into TOKEN.  An enroll token
   works once; BOARD (or NULL) fixes the name it enrols.  FINGERPRINT (32 bytes) is the root's, and
   is carried in enroll tokens.  Returns 0 or -errno. */
int access_token_make(struct access *access, enum role role, const char *board, uint64_t ttl_ns,
                      const uint8_t *fingerprint, char token[ACCESS_TOKEN_BYTES]);

/* Uses up an enroll token.  Returns 0 with the board's name (given, or made unique here) in BOARD
   of at least 129 bytes, or -EACCES with WHY ("unknown token", "token has expired", "token was
   used"). */
int access_enrol(struct access *access, const char *token, char *board, size_t board_len,
                 char *why, size_t why_len);

/* Returns whether TOKEN grants ROLE now (admin grants all). */
bool access_token_grants(struct access *access, const char *token, enum role role);

int access_revoke(struct access *access, const char *board);
bool access_is_revoked(struct access *access, const char *board);

/* Appends one line to the audit log (DIR/audit.log): time, subject, what. */
void access_audit(struct access *access, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
