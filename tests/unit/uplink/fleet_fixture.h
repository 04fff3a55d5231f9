/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet for tests: a folder with a CA, a collector's and boards' certificates, made on the spot.
 */
#ifndef TESTS_FLEET_FIXTURE_H
#define TESTS_FLEET_FIXTURE_H

#include <openssl/x509.h>

enum { FLEET_PATH_BYTES = 128, FLEET_DAY = 86400 };

struct fleet_pair {
  X509 *certificate;
  EVP_PKEY *key;
};

struct fleet {
  char dir[64];
  struct fleet_pair root;
};

struct fleet_leaf {
  const char *file;  /* DIR/file.pem and DIR/file.key */
  const char *usage; /* extended key usage */
  long from, until;  /* seconds from now */
};

/* Makes the folder with `ca`, `collector` and `board`, valid from yesterday until tomorrow. Returns
   0 or -1. */
int fleet_init(struct fleet *fleet);
void fleet_fini(struct fleet *fleet); /* removes the folder */

/* Writes DIR/NAME into PATH. */
void fleet_path(const struct fleet *fleet, const char *name, char path[FLEET_PATH_BYTES]);

/* Makes a key and its certificate, signed by ISSUER, or self-signed if that is NULL. */
struct fleet_pair fleet_make(const struct fleet_leaf *leaf, const struct fleet_pair *issuer);
void fleet_pair_fini(struct fleet_pair *pair);

/* Makes a leaf under the fleet's root, or under ISSUER, and writes it; replaces one of the same
   name. */
void fleet_add(const struct fleet *fleet, const struct fleet_leaf *leaf,
               const struct fleet_pair *issuer);

#endif
