/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and prints addresses to listen on: "127.0.0.1:7480", "[::1]:7480", "localhost:7480".
   Pure. */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { ADDRESS_URL_BYTES = 240 /* with a public name of up to 200 bytes */ };

/* Reads TEXT. Returns 0, or -EINVAL if it is not an address with a port. With port 0 the kernel
   chooses. Any thread. */
int address_parse(const char *text, struct sockaddr_storage *ret, socklen_t *ret_len);

/* Returns whether ADDRESS is 0.0.0.0 or [::]. Any thread. */
bool address_is_wildcard(const struct sockaddr_storage *address);

/* Writes ADDRESS as SCHEME://ADDRESS:PORT/. NAME, unless it is NULL, replaces the address. Any
   thread. */
void address_print_url(const struct sockaddr_storage *address, const char *scheme, const char *name,
                       char url[ADDRESS_URL_BYTES]);

#endif
