/* SPDX-License-Identifier: Apache-2.0 */
/* Sources on this machine -> a bundle (proto/source_bundle.h). */
#ifndef UPLOAD_BUNDLE_PACK_H
#define UPLOAD_BUNDLE_PACK_H

#include "bundle_paths.h"
#include "bundle_roots.h"
#include "common/buf.h"

struct bundle_packed { /* all-zero but fd, which is -1: none */
  struct buf head;     /* the beginning of the bundle */
  int fd;              /* the rest, in an unnamed file */
  uint64_t bytes;      /* of both */
  uint8_t sha256[32];
  uint32_t count;                         /* sources in it */
  uint32_t missing, forbidden, too_large; /* sources that are not */
  const char *example; /* a source that is not packed, as in debug information, or NULL */
};

/* Packs those of PATHS that ROOTS provide.  Returns 0 with RET, to be ended by bundle_packed_fini;
   -EOVERFLOW if they exceed the limits of a bundle; or -errno. */
int bundle_pack(const struct bundle_roots *roots, const struct bundle_paths *paths,
                struct bundle_packed *ret);
void bundle_packed_fini(struct bundle_packed *packed);

#endif
