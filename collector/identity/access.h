/* SPDX-License-Identifier: Apache-2.0 */
/* Who may do what: tokens (only their hash is kept), boards, revocations, in DIR/access.db.  Safe
   to use from several processes at once: `token` and `revoke` run beside the collector. */
#ifndef IDENTITY_ACCESS_H
#define IDENTITY_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct access;
struct span;

/* Of access.db.  0: without the column of renewals, or with it; 1: used_from_s is when a
   certificate's validity begins, which is before it was signed; 2: without marks. */
enum { ACCESS_VERSION = 3 };

enum role { ROLE_NONE, ROLE_ENROLL, ROLE_READ, ROLE_SYMBOLS, ROLE_INGEST, ROLE_ADMIN };

/* Returns the role called NAME, or ROLE_NONE. */
enum role role_find(const char *name);

/* Opens DIR's database, which is made where no collector has run yet.  Returns 0; -ENODATA when it
   is gone or empty otherwise, -ESTALE when it is an older copy, -EXDEV when it is another
   collector's; or -errno; with one line in ERROR. */
int access_open(const char *dir, struct access **ret, char *error, size_t error_len);
void access_close(struct access *access);

enum { ACCESS_TOKEN_BYTES = 160 };

/* Makes a token for ROLE that ends after TTL_NS and writes its text into TOKEN: "fpt_" and 32
   characters of base64url; an enroll token goes on with "_" and the root's FINGERPRINT (32 bytes)
   in 43 more (both parts may hold "_" themselves: cut by length).  An enroll token works once;
   BOARD (or NULL) fixes the name it enrols.  Returns 0, -EINVAL for a name no board may have (or
   any with another role) or for ROLE_NONE, or -errno.  Any thread. */
int access_token_make(struct access *access, enum role role, const char *board, uint64_t ttl_ns,
                      const uint8_t *fingerprint, char token[ACCESS_TOKEN_BYTES]);

/* Uses up an enroll token (its text with or without the fingerprint).  Returns 0 with the board's
   name (given, or made unique here) in BOARD of at least 129 bytes, -EACCES with WHY ("unknown
   token", "token has expired", "token was used", "board is revoked: ..."), or -errno when the
   answer cannot be kept (the token is not used then).  A name that is enrolled already gets a new
   certificate.  Any thread. */
int access_enrol(struct access *access, const char *token, char *board, size_t board_len, char *why,
                 size_t why_len);

struct access_certificate {
  int64_t signed_s; /* certificate_signed_s: which of two is the newer one */
  bool has_expired;
  uint64_t root; /* certificate_id of the root that vouches for it; 0: not known */
};

/* Judges whether BOARD may come in with CERTIFICATE, which is one of ours, and notes that it did:
   a board that has used a newer one may not, nor one that is revoked; with an expired one it must
   be known here, and with one that has not it is known from then on.  Returns 0; -EACCES (revoked),
   -ESTALE (a newer one was used) or -ENOENT (not known) with WHY; or another -errno.  Any thread.
 */
int access_admit(struct access *access, const char *board,
                 const struct access_certificate *certificate, char *why, size_t why_len);

/* Notes the serial number and the end of CERTIFICATE (PEM) that was made for BOARD.  Returns 0,
   -EBADMSG or -errno.  Any thread. */
int access_certificate(struct access *access, const char *board, struct span certificate);

/* What a revoked board gets as the reason, for its operator to read. */
#define ACCESS_REVOKED_WHY \
  "board is revoked: on the collector, `fleetprof-collector revoke --undo` lets it in again"

/* One board as an operator sees it. */
struct access_board {
  const char *name;
  int64_t made_s;    /* enrolled, first seen, or revoked: whichever was first */
  int64_t revoked_s; /* 0: may come in */
};

/* Revokes BOARD until access_restore, also one that is not known here (its certificate may be).
   Returns 0, -EINVAL for a name no board may have, or -errno.  Any thread. */
int access_revoke(struct access *access, const char *board);

/* Lets BOARD in again, with whatever certificate it has that is not too old.  Returns 0, -ENOENT
   when it is not revoked, or -errno.  Any thread. */
int access_restore(struct access *access, const char *board);

/* Returns whether BOARD is revoked; true also when the database cannot say.  Any thread. */
bool access_is_revoked(struct access *access, const char *board);

/* Call ON_BOARD for each board, or each revoked one, in strcmp order; what it gets is gone when it
   returns.  Return 0, -errno, or what ON_BOARD returned when that was not 0.  Any thread. */
int access_boards(struct access *access,
                  int (*on_board)(void *context, const struct access_board *board), void *context);
int access_revoked(struct access *access,
                   int (*on_board)(void *context, const struct access_board *board), void *context);

struct access_rollover {
  uint64_t boards;      /* that may come in */
  uint64_t boards_over; /* of these: came with a certificate under the new root */
  uint64_t tokens;      /* to enroll with, that were not used yet and still work */
  int64_t tokens_end_s; /* when the last of them ends */
};

/* Says how far the boards are on their way to ROOT (certificate_id).  Calls ON_BOARD for each that
   is not there, in strcmp order, until it returns other than 0.  Returns 0 or -errno.  Any thread.
 */
int access_rollover(struct access *access, uint64_t root, struct access_rollover *ret,
                    int (*on_board)(void *context, const char *board), void *context);

/* Appends one line to the log of changes (DIR/audit.log): time, subject, what.  For what somebody
   did who may, since each line makes an older one go in the end.  Any thread. */
void access_audit(struct access *access, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Notes in a log of its own (DIR/renewals.log) that BOARD has got a certificate, which it may ask
   for as often as it likes: the same WHAT of it once a minute, otherwise as access_audit_denial. */
void access_audit_renewal(struct access *access, const char *board, const char *what);

/* The same for what anybody can cause, in a log of its own (DIR/denials.log): a few lines a second
   at most, how many were left out is a line, too.  A thread writes it: waits for no disk.  Any
   thread.
 */
void access_audit_denial(struct access *access, const char *subject, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
