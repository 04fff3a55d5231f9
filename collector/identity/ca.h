/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's own small certificate authority, in DIR/ca: a P-256 root, the collector's server
   certificate, and certificates for boards that last 30 days unless said otherwise. */
#ifndef IDENTITY_CA_H
#define IDENTITY_CA_H

#include "common/span.h"

#include <stdbool.h>
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

/* Sets what the server certificate names beside this machine and localhost: "DNS:a.example,IP:..."
   (authority_add_name), "" for nothing.  Another one is made where it is not so; until this is
   called the names that it has stay.  Returns 0, or -errno with one line in ERROR.  Before there
   are threads. */
int ca_set_names(struct ca *ca, const char *names, char *error, size_t error_len);

const char *ca_server_certificate_path(const struct ca *ca);
const char *ca_server_key_path(const struct ca *ca);
const char *ca_root_path(const struct ca *ca);

/* During a rollover: where the second root is and the server certificate under it.  Returns false
   when there is none.  Any thread. */
struct ca_next_paths {
  const char *root, *certificate, *key;
};
bool ca_next_paths(struct ca *ca, struct ca_next_paths *ret);

/* Reads the files anew where others are there now (`rollover` runs beside the collector), or where
   the server certificate has less than a year left, which is renewed then.  Returns 0, or -errno
   with one line in ERROR: then all is as before.  Blocks.  Any thread. */
int ca_refresh(struct ca *ca, char *error, size_t error_len);

/* Asked about the first root (certificate_id) before its files are read anew: where JUDGE says no,
   all stays as it was.  Before there are threads. */
void ca_set_judge(struct ca *ca, bool (*judge)(void *context, uint64_t root), void *context);

/* A number that is another one after each change.  Any thread. */
uint64_t ca_generation(struct ca *ca);

/* SHA-256 of the first root's certificate (DER): what a token pins.  Any thread. */
void ca_fingerprint(struct ca *ca, uint8_t fingerprint[32]);

/* Appends the root certificates that boards are to trust (PEM), the newest last.  Any thread. */
int ca_roots(struct ca *ca, struct buf *ret);

/* Their short name (common/tls_trust.h).  Any thread. */
uint64_t ca_trust(struct ca *ca);

/* The first root's certificate_id.  Any thread. */
uint64_t ca_first_id(struct ca *ca);

/* The second root's certificate_id; 0 when no rollover is under way.  Any thread. */
uint64_t ca_next_id(struct ca *ca);

/* Makes the certificates that are signed from now on last SECONDS.  Before there are threads. */
void ca_set_board_life(struct ca *ca, uint64_t seconds);

/* Returns these seconds.  Any thread. */
uint64_t ca_board_life(const struct ca *ca);

/* Checks CSR as ca_sign does, without signing: what to do before a token is used up.  Writes the
   SHA-256 of its key into RET_KEY unless that is NULL.  Returns 0, -EBADMSG with WHY, or -ENOMEM.
   Any thread. */
int ca_check(struct span csr, uint8_t *ret_key, char *why, size_t why_len);

struct ca_request {
  struct span csr; /* DER, at most LIMIT_CSR_BYTES */
  const char *board;
  bool is_newest; /* to be signed by the newest root, which the board knows or gets with it */
};

/* Signs: only the public key of the request is taken, name, extensions and lifetime are ours.
   Appends the PEM to RET.  Returns 0, -EBADMSG with WHY, or -ENOMEM.  Any thread. */
int ca_sign(struct ca *ca, const struct ca_request *request, struct buf *ret, char *why,
            size_t why_len);

#endif
