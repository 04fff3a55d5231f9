/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server sends those who ask it.  Pure. */
#ifndef FETCH_REDIRECT_H
#define FETCH_REDIRECT_H

#include "url.h"

enum { REDIRECT_TARGET_BYTES = 2048 };

/* Whether an answer of STATUS says where else to ask the same. */
bool redirect_is(int status);

/* Reads LOCATION, the field of an answer from FROM: an absolute URL or a path there.  RET is the
   server to ask, without a path of its own, and TARGET what to ask it for.  Returns 0; -EPERM where
   nobody should be sent: from HTTPS to plain HTTP, or from another machine to this one; or -EINVAL
   when it is neither.  Any thread. */
int redirect_parse(const struct url *from, const char *location, struct url *ret,
                   char target[REDIRECT_TARGET_BYTES]);

#endif
