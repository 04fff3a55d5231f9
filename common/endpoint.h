/* SPDX-License-Identifier: Apache-2.0 */
/* Where to connect to, as people write it. */
#ifndef COMMON_ENDPOINT_H
#define COMMON_ENDPOINT_H

enum { ENDPOINT_HOST_BYTES = 256, ENDPOINT_PORT_BYTES = 6 };

struct endpoint {
  char host[ENDPOINT_HOST_BYTES]; /* a name or a numeric address, without brackets */
  char port[ENDPOINT_PORT_BYTES]; /* digits, 1 to 65535 */
};

/* Reads TEXT: HOST:PORT or [ADDRESS]:PORT.  Returns 0, or -EINVAL when it is neither.  Whether the
   host is one is for those to say who look it up.  Pure.  Any thread. */
int endpoint_parse(const char *text, struct endpoint *ret);

#endif
