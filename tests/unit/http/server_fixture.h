/* SPDX-License-Identifier: Apache-2.0 */
/* The real server with its real parts on its own folder, with raw sockets as clients. One per test:
   set_up and tear_down of a group. */
#ifndef TESTS_HTTP_SERVER_FIXTURE_H
#define TESTS_HTTP_SERVER_FIXTURE_H

#include "common/buf.h"
#include "http/http.h"
#include "identity/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\n"
#define LAST "Connection: close\r\n\r\n"

extern struct http_parts parts;
extern struct http *http;

/* Starts the server on a port of loopback, its loop in a thread.  Returns 0. */
int start_server(void **state);
int stop_server(void **state);

int connect_to_server(void);
/* Sends all of it, or as much as is taken before the server refuses the rest. */
void send_all(int fd, const void *bytes, size_t len);
/* Reads until the server ends the connection; false when it did not within 5 s. */
bool read_all(int fd, struct buf *ret);
/* Sends TEXT and returns, in ANSWER, everything received until the server closes, as it must. */
char *talk(const char *text, size_t len, struct buf *answer);

/* A token of ROLE that ends after SECONDS. */
void make_token(enum role role, unsigned seconds, char ret[ACCESS_TOKEN_BYTES]);

#endif
