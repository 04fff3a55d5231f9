/* SPDX-License-Identifier: Apache-2.0 */
/* Parses redirects. Pure. */
#ifndef FETCH_REDIRECT_H
#define FETCH_REDIRECT_H

#include "url.h"

enum { REDIRECT_TARGET_BYTES = 2048 };

/* True if STATUS is a redirect to repeat the request elsewhere. */
bool redirect_is(int status);

/* Reads LOCATION, the field of an answer from FROM: an absolute URL or a path. RET is the new
   server, without its own path, and TARGET the path to request. Returns 0; -EPERM for a forbidden
   redirect: from HTTPS to plain HTTP, or from another machine to this one; or -EINVAL if it is
   neither.  Any thread. */
int redirect_parse(const struct url *from, const char *location, struct url *ret,
                   char target[REDIRECT_TARGET_BYTES]);

#endif
