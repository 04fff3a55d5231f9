/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all HTTP routes. */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "router.h"

enum { ROUTES_MAX = 32 }; /* size of the counters by row */

extern const struct route routes[];
extern const size_t routes_count;

#endif
