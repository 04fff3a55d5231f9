/* SPDX-License-Identifier: Apache-2.0 */
/* Build-ids in hexadecimal. */
#ifndef HTTP_HEX_ID_H
#define HTTP_HEX_ID_H

#include "common/span.h"
#include "proto/limits.h"

struct hex_id {
  uint8_t bytes[LIMIT_MODULE_ID_BYTES];
  size_t len;
};

/* Reads TEXT, an even number of hexadecimal digits in either case. Returns 0, or -EINVAL if it is
   malformed, empty, or longer than LIMIT_MODULE_ID_BYTES. Pure. */
int hex_id_parse(struct span text, struct hex_id *ret);

#endif
