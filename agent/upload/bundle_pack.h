/* SPDX-License-Identifier: Apache-2.0 */
/* Sources on this machine -> a bundle (proto/source_bundle.h). */
#ifndef UPLOAD_BUNDLE_PACK_H
#define UPLOAD_BUNDLE_PACK_H

#include "bundle_paths.h"
#include "bundle_roots.h"
#include "common/buf.h"

struct bundle_packed { /* all-zero but fd, which is -1: none */
  struct buf head;     /* what the bundle begins with... */
  int fd;              /* ...and what follows, in a file without a name */
  uint64_t bytes;      /* of both */
  uint8_t sha256[32];
  uint32_t count;                         /* sources in it */
  uint32_t missing, forbidden, too_large; /* those that are not */
  const char *example;                    /* one of them, as debug information has it, or NULL */
};

/* Packs those of PATHS that ROOTS have.  Returns 0, with RET to be ended by bundle_packed_fini;
   -EOVERFLOW when they are more than a bundle takes; or
   -errno. */
int bundle_pack(const struct bundle_roots *roots, const struct bundle_paths *paths,
                struct bundle_packed *ret);
void bundle_packed_fini(struct bundle_packed *packed);

#endif
