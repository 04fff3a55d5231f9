/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet's own small certificate authority, in DIR/ca: a P-256 root, the collector's server
   certificate, and certificates for boards with a default life of 30 days. */
#ifndef IDENTITY_CA_H
#define IDENTITY_CA_H

#include "common/span.h"

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct ca;

/* Whether DIR has an authority. Returns 0, -ENOENT if there is none, or -errno if that is
   unknown. */
int ca_look(const char *dir);

/* Opens DIR/ca, and makes the root and the server certificate if absent, under a lock: `token` may
   do the same concurrently. Returns 0 or -errno, with one line in ERROR. */
int ca_open(const char *dir, struct ca **ret, char *error, size_t error_len);
void ca_close(struct ca *ca);

/* Sets the names in the server certificate beyond this machine and localhost:
   "DNS:a.example,IP:..." (authority_add_name), "" for none. A certificate with other names is
   replaced; until this call its names stay. Returns 0, or -errno with one line in ERROR. Call
   before threads are started. */
int ca_set_names(struct ca *ca, const char *names, char *error, size_t error_len);

const char *ca_server_certificate_path(const struct ca *ca);
const char *ca_server_key_path(const struct ca *ca);
const char *ca_root_path(const struct ca *ca);

/* During a rollover: paths of the second root and of the server certificate under it. Returns false
   if there is no second root. Any thread. */
struct ca_next_paths {
  const char *root, *certificate, *key;
};
bool ca_next_paths(struct ca *ca, struct ca_next_paths *ret);

/* Reloads the files if they were replaced (`rollover` runs beside the collector). Renews a server
   certificate with less than a year left. Returns 0, or -errno with one line in ERROR and nothing
   changed. Blocks. Any thread. */
int ca_refresh(struct ca *ca, char *error, size_t error_len);

/* Sets a check of the first root (certificate_id) at each reload: if JUDGE returns false, the
   reload is rejected. Call before threads are started. */
void ca_set_judge(struct ca *ca, bool (*judge)(void *context, uint64_t root), void *context);

/* Returns a number that differs after each change. Any thread. */
uint64_t ca_generation(struct ca *ca);

/* SHA-256 of the first root's certificate (DER), which tokens pin. Any thread. */
void ca_fingerprint(struct ca *ca, uint8_t fingerprint[32]);

/* Appends the root certificates that boards should trust (PEM), the newest last. Any thread. */
int ca_roots(struct ca *ca, struct buf *ret);

/* Returns their short id (common/tls_trust.h). Any thread. */
uint64_t ca_trust(struct ca *ca);

/* Returns the first root's certificate_id. Any thread. */
uint64_t ca_first_id(struct ca *ca);

/* Returns the second root's certificate_id; 0 if no rollover is in progress. Any thread. */
uint64_t ca_next_id(struct ca *ca);

/* Sets the life of certificates signed from now on to SECONDS. Call before threads are started. */
void ca_set_board_life(struct ca *ca, uint64_t seconds);

/* Returns that life in seconds. Any thread. */
uint64_t ca_board_life(const struct ca *ca);

/* Checks CSR as ca_sign does, without signing: call it before a token is used up. Writes the
   SHA-256 of its key to RET_KEY unless that is NULL. Returns 0, -EBADMSG with WHY, or -ENOMEM. Any
   thread. */
int ca_check(struct span csr, uint8_t *ret_key, char *why, size_t why_len);

struct ca_request {
  struct span csr; /* DER, at most LIMIT_CSR_BYTES */
  const char *board;
  bool is_newest; /* sign by the newest root, which the board has or receives with it */
};

/* Signs a certificate. Only the public key of the request is used; name, extensions and lifetime
   are set here. Appends the PEM to RET. Returns 0, -EBADMSG with WHY, or -ENOMEM. Any thread. */
int ca_sign(struct ca *ca, const struct ca_request *request, struct buf *ret, char *why,
            size_t why_len);

#endif
