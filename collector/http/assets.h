/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the page, as cmake/embed.cmake put them into the program. */
#ifndef HTTP_ASSETS_H
#define HTTP_ASSETS_H

#include <stddef.h>

struct asset {
  const char *path; /* as in a request */
  const char *type;
  const char *etag; /* quoted; changes with the bytes */
  const unsigned char *bytes;
  size_t len;
};

/* Made at build time. */
extern const struct asset assets[];
extern const size_t assets_count;

/* Returns the file that is served at PATH, or NULL.  Any thread. */
const struct asset *assets_find(const char *path);

#endif
