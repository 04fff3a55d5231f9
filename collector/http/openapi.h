/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenAPI description, made from the route table. */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H

#include <stddef.h>

struct json;
struct route;

/* Writes the members of the description's outermost object.  Any thread. */
void openapi_write(struct json *json, const struct route *table, size_t count);

#endif
