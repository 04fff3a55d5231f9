/* SPDX-License-Identifier: Apache-2.0 */
/* The authority's files: made under a lock, written atomically, keys for the owner only. */
#ifndef IDENTITY_CA_FILES_H
#define IDENTITY_CA_FILES_H

#include "common/span.h"

#include <openssl/x509.h>
#include <sys/types.h>

/* Makes DIR (mode 0700) if absent and locks the lock file in it; waits for another holder. Returns
   the descriptor that holds the lock (closing it unlocks) or -errno. */
int ca_files_lock(const char *dir);

/* Writes BYTES to PATH with MODE through a temporary file that is flushed and renamed over it, so
   that PATH is never incomplete. Returns 0 or -errno. */
int ca_files_write(const char *path, struct span bytes, mode_t mode);

/* Makes a rename of PATH durable. Returns 0 or -errno. */
int ca_files_flush_folder(const char *path);

/* Writes KEY (PKCS#8 PEM), or CERTIFICATE and then its ISSUER if not NULL (PEM), mode 0600. Returns
   0 or -errno. */
int ca_files_write_key(const char *path, EVP_PKEY *key);
int ca_files_write_chain(const char *path, X509 *certificate, X509 *issuer);

/* Reads the key, or the first certificate, of the PEM file PATH. Returns NULL if it cannot be read;
   the caller owns the result. */
EVP_PKEY *ca_files_read_key(const char *path);
X509 *ca_files_read_certificate(const char *path);

#endif
