/* SPDX-License-Identifier: Apache-2.0 */
/* "127.0.0.1:7480", "[::1]:7480", "localhost:7480": an address to listen on.  Pure. */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { ADDRESS_URL_BYTES = 240 /* of a public name, up to 200 */ };

/* Reads TEXT.  Returns 0, or -EINVAL when it is anything else; port 0 lets the kernel choose.
   Any thread. */
int address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len);

/* Whether ADDRESS is 0.0.0.0 or [::].  Any thread. */
bool address_is_wildcard(const struct sockaddr_storage *address);

/* Writes ADDRESS as SCHEME://ADDRESS:PORT/, with NAME, unless it is NULL, in its place.  Any
 * thread.
 */
void address_print_url(const struct sockaddr_storage *address, const char *scheme, const char *name,
                       char url[ADDRESS_URL_BYTES]);

#endif
