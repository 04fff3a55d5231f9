/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's own small certificate authority, in DIR/ca: a P-256 root, the collector's server
   certificate, and certificates for boards that last 30 days unless said otherwise. */
#ifndef IDENTITY_CA_H
#define IDENTITY_CA_H

#include "common/span.h"

#include <stdint.h>

struct buf;
struct ca;

/* Whether DIR has an authority.  Returns 0, -ENOENT when there is none, or -errno when that cannot
   be seen. */
int ca_look(const char *dir);

/* Opens DIR/ca, making root and server certificate when absent (under a lock: `token` may come
   while the collector does the same).  Returns 0 or -errno, with one line in ERROR. */
int ca_open(const char *dir, struct ca **ret, char *error, size_t error_len);
void ca_close(struct ca *ca);

const char *ca_server_certificate_path(const struct ca *ca);
const char *ca_server_key_path(const struct ca *ca);
const char *ca_root_path(const struct ca *ca);

/* SHA-256 of the root certificate (DER): what a token pins. */
void ca_fingerprint(const struct ca *ca, uint8_t fingerprint[32]);

/* Appends the root certificates that boards are to trust (PEM). */
int ca_roots(const struct ca *ca, struct buf *ret);

/* Their short name (common/tls_trust.h). */
uint64_t ca_trust(const struct ca *ca);

/* Makes the certificates that are signed from now on last SECONDS.  Before there are threads. */
void ca_set_board_life(struct ca *ca, uint64_t seconds);

/* Checks CSR as ca_sign does, without signing: what to do before a token is used up.  Writes the
   SHA-256 of its key into RET_KEY unless that is NULL.  Returns 0, -EBADMSG with WHY, or -ENOMEM.
   Any thread. */
int ca_check(struct span csr, uint8_t *ret_key, char *why, size_t why_len);

/* Signs CSR (DER, at most LIMIT_CSR_BYTES) for BOARD: only its public key is taken, name,
   extensions and lifetime are ours.  Appends the PEM to RET.  Returns 0, -EBADMSG with WHY, or
   -ENOMEM.  Any thread. */
int ca_sign(struct ca *ca, struct span csr, const char *board, struct buf *ret, char *why,
            size_t why_len);

#endif
