/* SPDX-License-Identifier: Apache-2.0 */
/* The one list of everything that can be asked over HTTP. */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "router.h"

enum { ROUTES_MAX = 32 }; /* for counters kept by row */

extern const struct route routes[];
extern const size_t routes_count;

#endif
