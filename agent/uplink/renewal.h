/* SPDX-License-Identifier: Apache-2.0 */
/* When a board's certificate is to be renewed, what to ask, and what to do with the answer.  Files
   and certificates only: frames are the session's. */
#ifndef UPLINK_RENEWAL_H
#define UPLINK_RENEWAL_H

#include "common/span.h"

#include <openssl/evp.h>

struct buf;
struct renewed;

struct renewal_files { /* borrowed */
  const char *certificate, *key, *ca;
  const char *state_dir; /* where the new ones are installed */
  const char *collector; /* HOST:PORT, kept beside them */
};

/* Says how long to wait, in RET_WAIT_NS, when it is NOW_NS (the collector's wall clock) and it
   hands out the CA certificates called TRUST.  Returns 0, -ENOENT or -EBADMSG when the files cannot
   be read, or -errno.  Loop only. */
int renewal_wait_ns(const struct renewal_files *files, uint64_t now_ns, uint64_t trust,
                    uint64_t *ret_wait_ns);

/* Appends a request to RET_CSR: for a new key, or IS_SAME_KEY for the one that there is.  Returns 0
   with RET_KEY the caller's, -EBADMSG when that key cannot be read, or -ENOMEM. */
int renewal_ask(const struct renewal_files *files, bool is_same_key, EVP_PKEY **ret_key,
                struct buf *ret_csr);

/* Checks RENEWED, the answer for KEY, and installs it.  Returns NULL, or what is wrong: then the
   files are as before. */
const char *renewal_install(const struct renewal_files *files, EVP_PKEY *key,
                            const struct renewed *renewed);

#endif
