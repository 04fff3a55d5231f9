/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server is, as people write it.  Pure. */
#ifndef FETCH_URL_H
#define FETCH_URL_H

#include "common/endpoint.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

enum { URL_PATH_BYTES = 256 };

struct url {
  bool is_https;
  struct endpoint at;
  char path[URL_PATH_BYTES]; /* what all paths there begin with; no slash at its end */
};

/* Reads TEXT: http://HOST[:PORT][/PATH], https://..., or HOST:PORT, which is http for this machine
   and https for every other.  Returns 0, or -EINVAL with the reason in WHY.  Any thread. */
int url_parse(const char *text, struct url *ret, char *why, size_t why_len);

/* Returns whether what is sent to URL stays on this machine: 127.x.x.x, ::1 or localhost.  Any
   thread. */
bool url_is_loopback(const struct url *url);

/* Appends what a Host field says.  Any thread. */
void url_print_host(const struct url *url, struct buf *ret);

/* Appends "?NAME=VALUE" or "&NAME=VALUE" to RET, with everything in VALUE escaped that has a
   meaning in a URL; NULL as a value appends nothing.  RET holds a path.  Any thread. */
void url_add_parameter(struct buf *ret, const char *name, const char *value);

/* Appends TEXT with everything escaped in it that has a meaning in a URL: as one segment of a path,
   or a value of a parameter.  Any thread. */
void url_add_escaped(struct buf *ret, const char *text);

/* Undoes that in place, of the value of a parameter as browsers write it ('+' is a space).  Returns
   0, or -EINVAL: an escape that is none, or of a NUL.  Any thread. */
int url_unescape(char *text);

#endif
