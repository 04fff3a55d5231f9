/* SPDX-License-Identifier: Apache-2.0 */
/* Decides when a board's certificate is renewed, creates the request, and installs the answer.  It
   deals with files and certificates only; frames are the session's. */
#ifndef UPLINK_RENEWAL_H
#define UPLINK_RENEWAL_H

#include "common/span.h"

#include <openssl/evp.h>

struct buf;
struct renewed;

struct renewal_files { /* borrowed */
  const char *certificate, *key, *ca;
  const char *state_dir; /* where the new files are installed */
  const char *collector; /* HOST:PORT, stored with them */
};

/* Sets RET_WAIT_NS to the time until the renewal.  NOW_NS is the collector's wall clock, and TRUST
   identifies the CA certificates that it distributes.  Returns 0, -ENOENT or -EBADMSG if the files
   cannot be read, or -errno.  Loop only. */
int renewal_wait_ns(const struct renewal_files *files, uint64_t now_ns, uint64_t trust,
                    uint64_t *ret_wait_ns);

/* Appends a request to RET_CSR: for a new key, or with IS_SAME_KEY for the existing one.  Returns 0
   with RET_KEY owned by the caller, -EBADMSG if that key cannot be read, or -ENOMEM. */
int renewal_ask(const struct renewal_files *files, bool is_same_key, EVP_PKEY **ret_key,
                struct buf *ret_csr);

/* Checks RENEWED, the answer for KEY, and installs it.  Returns NULL, or its fault: then the files
   are unchanged. */
const char *renewal_install(const struct renewal_files *files, EVP_PKEY *key,
                            const struct renewed *renewed);

#endif
