/* SPDX-License-Identifier: Apache-2.0 */
/* The URL of a server, as written by users. Pure. */
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
  char path[URL_PATH_BYTES]; /* common prefix of all paths; without a slash at its end */
};

/* Reads TEXT: http://HOST[:PORT][/PATH], https://..., or HOST:PORT, which means http for this
   machine and https for every other. Returns 0, or -EINVAL with the reason in WHY.  Any thread. */
int url_parse(const char *text, struct url *ret, char *why, size_t why_len);

/* True if URL's host is this machine: 127.x.x.x, ::1 or localhost.  Any thread. */
bool url_is_loopback(const struct url *url);

/* Appends the value of a Host field.  Any thread. */
void url_print_host(const struct url *url, struct buf *ret);

/* Appends "?NAME=VALUE" or "&NAME=VALUE" to RET, a path, with VALUE escaped for a URL; a NULL value
   appends nothing.  Any thread. */
void url_add_parameter(struct buf *ret, const char *name, const char *value);

/* Appends TEXT escaped for a URL: as one segment of a path, or a value of a parameter.
   Any thread. */
void url_add_escaped(struct buf *ret, const char *text);

/* Reverses the escaping in place, for the value of a parameter as browsers write it ('+' is a
   space). Returns 0, or -EINVAL for an invalid escape, or one of a NUL.  Any thread. */
int url_unescape(char *text);

#endif
