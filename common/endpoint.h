/* SPDX-License-Identifier: Apache-2.0 */
/* The address of a server, as written by users. */
#ifndef COMMON_ENDPOINT_H
#define COMMON_ENDPOINT_H

enum { ENDPOINT_HOST_BYTES = 256, ENDPOINT_PORT_BYTES = 6 };

struct endpoint {
  char host[ENDPOINT_HOST_BYTES]; /* a name or a numeric address, without brackets */
  char port[ENDPOINT_PORT_BYTES]; /* digits, 1 to 65535 */
};

/* Reads TEXT: HOST:PORT or [ADDRESS]:PORT. Returns 0, or -EINVAL if it is neither. The host is not
   validated; the look-up does that. Pure.  Any thread. */
int endpoint_parse(const char *text, struct endpoint *ret);

#endif
