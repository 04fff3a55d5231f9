/* SPDX-License-Identifier: Apache-2.0 */
/* One root of the fleet, with its key and the server certificate that it signed, as files of
   DIR/ca. */
#ifndef IDENTITY_AUTHORITY_H
#define IDENTITY_AUTHORITY_H

#include <limits.h>
#include <openssl/x509.h>
#include <stdint.h>

enum authority_rank {
  AUTHORITY_FIRST, /* root.*, server.* */
  AUTHORITY_NEXT,  /* next.*, server-next.*: only during a rollover */
};

struct authority_paths {
  char root[PATH_MAX], root_key[PATH_MAX];
  char server[PATH_MAX], server_key[PATH_MAX];
};

struct authority { /* all NULL: none */
  X509 *root;
  EVP_PKEY *key;
  int64_t due_s; /* when the next server certificate is due, since 1970 */
};

/* Returns 0 or -ENAMETOOLONG. */
int authority_paths(const char *dir, enum authority_rank rank, struct authority_paths *ret);

/* Makes a root and writes it, its key first. Returns 0 or -errno. Release RET by authority_fini. */
int authority_make(const struct authority_paths *paths, struct authority *ret);

/* Reads a root and its key. Returns 0, or -EBADMSG with one line in ERROR. */
int authority_load(const struct authority_paths *paths, struct authority *ret, char *error,
                   size_t error_len);

enum { AUTHORITY_NAMES_BYTES = 12 << 10 /* OPTION_LIST_MAX names, and this machine's own */ };

/* Makes a server certificate unless the present one is valid for another year and has the right
   names, and sets due_s. It names this machine, "localhost", and NAMES
   ("DNS:a.example,IP:10.0.0.1"). NULL: any names are accepted, and a new one keeps them. Returns 0
   or -errno. */
int authority_serve(struct authority *authority, const struct authority_paths *paths,
                    const char *names);

/* Appends NAME, a host name or a numeric address, to the list RET of AUTHORITY_NAMES_BYTES, unless
   it is in it. Returns 0, -EINVAL if a certificate cannot contain it, or -EOVERFLOW. */
int authority_add_name(const char *name, char *ret);

void authority_fini(struct authority *authority);

/* Writes "certificate authority: WHAT: why" and returns FAILURE. */
int authority_complain(char *error, size_t error_len, int failure, const char *what);

#endif
