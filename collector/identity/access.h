/* SPDX-License-Identifier: Apache-2.0 */
/* Access rights: tokens (only their hash is stored), boards and revocations, in DIR/access.db. Safe
   for several processes at once: `token` and `revoke` run beside the collector. */
#ifndef IDENTITY_ACCESS_H
#define IDENTITY_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;
struct span;

/* Format of access.db. 0: with or without the column of renewals; 1: used_from_s is the start of a
   certificate's validity, which is before it was signed; 2: without marks. */
enum { ACCESS_VERSION = 3 };

enum role { ROLE_NONE, ROLE_ENROLL, ROLE_READ, ROLE_SYMBOLS, ROLE_INGEST, ROLE_ADMIN };

/* Returns the role named NAME, or ROLE_NONE. */
enum role role_find(const char *name);

/* Opens DIR's database, and creates it if no collector has run there. Returns 0; -ENODATA if it is
   missing or empty although a collector has run; -ESTALE if it is an older copy; -EXDEV if it is
   another collector's; or -errno; with one line in ERROR. */
int access_open(const char *dir, struct access **ret, char *error, size_t error_len);
void access_close(struct access *access);

enum { ACCESS_TOKEN_BYTES = 160 };

/* Makes a token for ROLE that ends after TTL_NS and writes its text to TOKEN: "fpt_" and 32
   characters of base64url. An enroll token continues with "_" and the root's FINGERPRINT (32 bytes)
   in 43 more. Both parts may contain "_": split by length. An enroll token works once; BOARD (or
   NULL) fixes the name that it enrolls. Returns 0, -EINVAL for an invalid name, a name with another
   role, or ROLE_NONE, or -errno. Any thread. */
int access_token_make(struct access *access, enum role role, const char *board, uint64_t ttl_ns,
                      const uint8_t *fingerprint, char token[ACCESS_TOKEN_BYTES]);

/* Uses up an enroll token (its text with or without the fingerprint). Returns 0 with the board's
   name, given or made unique here, in BOARD of at least 129 bytes. Returns -EACCES with WHY
   ("unknown token", "token has expired", "token was used", "board is revoked: ..."), or -errno if
   the result cannot be stored; the token is not used up then. A name that is already enrolled gets
   a new certificate. Any thread. */
int access_enrol(struct access *access, const char *token, char *board, size_t board_len, char *why,
                 size_t why_len);

struct access_certificate {
  int64_t signed_s; /* certificate_signed_s, which orders certificates while clocks are right */
  uint64_t id;      /* its certificate_id; 0: unknown */
  bool has_expired;
  uint64_t root; /* certificate_id of its root; 0: unknown */
};

/* Checks whether BOARD may connect with CERTIFICATE, which the fleet's authority signed, and
   records its use. A revoked board is rejected. So is any certificate but the last one used, the
   last one issued, and one that was signed later than each one used. With an expired certificate
   the board must be known; with a valid one it becomes known. Returns 0; -EACCES (revoked), -ESTALE
   (a newer one was used) or -ENOENT (unknown board) with WHY; or another -errno. Any thread. */
int access_admit(struct access *access, const char *board,
                 const struct access_certificate *certificate, char *why, size_t why_len);

/* Stores the serial number, the id and the end of CERTIFICATE (PEM), the last one issued to BOARD.
   Returns 0, -EBADMSG or -errno. Any thread. */
int access_certificate(struct access *access, const char *board, struct span certificate);

/* The reason sent to a revoked board, for its operator. */
#define ACCESS_REVOKED_WHY \
  "board is revoked: on the collector, `fleetprof-collector revoke --undo` lets it in again"

/* One board as listed for an operator. */
struct access_board {
  const char *name;
  int64_t made_s;    /* time of enrollment, first use, or revocation, whichever was first */
  int64_t revoked_s; /* 0: not revoked */
};

/* Revokes BOARD until access_restore, even if it is unknown (its certificate may be valid). Returns
   0, -EINVAL for an invalid name, or -errno. Any thread. */
int access_revoke(struct access *access, const char *board);

/* Ends the revocation of BOARD; it may use any certificate that is not too old. Returns 0, -ENOENT
   if it is not revoked, or -errno. Any thread. */
int access_restore(struct access *access, const char *board);

/* Returns whether BOARD is revoked; true also if the database fails. Any thread. */
bool access_is_revoked(struct access *access, const char *board);

/* Call ON_BOARD for each board, or each revoked one, in strcmp order; its argument is valid only
   during the call. Return 0, -errno, or the result of ON_BOARD if that was not 0. Any thread. */
int access_boards(struct access *access,
                  int (*on_board)(void *context, const struct access_board *board), void *context);
int access_revoked(struct access *access,
                   int (*on_board)(void *context, const struct access_board *board), void *context);

struct access_rollover {
  uint64_t boards;      /* that are not revoked */
  uint64_t boards_over; /* of these: used a certificate under the new root */
  uint64_t tokens;      /* enroll tokens that are unused and valid */
  int64_t tokens_end_s; /* end of the last of them */
};

/* Reports how many boards have moved to ROOT (certificate_id). Calls ON_BOARD for each that has
   not, in strcmp order, until it returns other than 0. Returns 0 or -errno. Any thread. */
int access_rollover(struct access *access, uint64_t root, struct access_rollover *ret,
                    int (*on_board)(void *context, const char *board), void *context);

/* Appends one line to the log of changes (DIR/audit.log): time, subject, text. Only for actions by
   authorized users, since each line finally displaces an older one. Any thread. */
void access_audit(struct access *access, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Logs in DIR/renewals.log that BOARD has received a certificate, which it may request at any rate:
   the same WHAT of a board at most once a minute, otherwise as access_audit_denial. */
void access_audit_renewal(struct access *access, const char *board, const char *what);

/* The same for events that unauthenticated peers can cause, in DIR/denials.log: a few lines a
   second at most; the number of dropped lines is logged. A thread writes it: never blocks on a
   disk. Any thread. */
void access_audit_denial(struct access *access, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
