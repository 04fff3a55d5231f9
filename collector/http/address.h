/* SPDX-License-Identifier: Apache-2.0 */
/* "127.0.0.1:7480", "[::1]:7480", "localhost:7480": an address to listen on.  Pure. */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

enum { ADDRESS_URL_BYTES = 96 };

/* Reads TEXT.  Returns 0, or -EINVAL when it is anything else; port 0 lets the kernel choose.
   Any thread. */
int address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len);

/* Writes ADDRESS as SCHEME://ADDRESS:PORT/.  Any thread. */
void address_print_url(const struct sockaddr_storage *address, const char *scheme,
                       char url[ADDRESS_URL_BYTES]);

#endif
