/* SPDX-License-Identifier: Apache-2.0 */
/* Access control for HTTP requests. */
#ifndef HTTP_GATE_H
#define HTTP_GATE_H

#include "common/span.h"
#include "identity/access.h"

struct sockaddr;

struct gate_visitor {
  bool server_is_loopback, peer_is_loopback;
  bool is_forwarded;  /* the head has a field that proxies add */
  bool is_read;       /* GET or HEAD */
  bool was_looked_up; /* the token was looked up: if it is not cached now, it is unknown */
  struct span host;   /* empty if absent */
  struct span authorization;
  struct span origin;     /* empty if absent; only browsers send it */
  struct span fetch_site; /* Sec-Fetch-Site; the same */
};

/* Returns whether HOST (name or address, with or without a port) is this machine's own. */
bool gate_is_loopback_host(struct span host);

/* Returns whether ADDRESS is 127.0.0.0/8, ::1, or the former mapped into IPv6. */
bool gate_is_loopback_address(const struct sockaddr *address);

enum { GATE_LOOK_UP = 1 };

/* Returns 0 if VISITOR may act as ROLE. Returns 401 if a (better) token is needed, or 403 if the
   token is valid but lacks the role; then sets WHY. Returns GATE_LOOK_UP if the token must be
   looked up first. Does not block. Any thread. */
int gate_check(struct access *access, const struct gate_visitor *visitor, enum role role,
               const char **why);

/* Returns a number, never 0, that all requests of one client share, whatever the connection. It is
   derived from the token, else from the address (of IPv6, its first half). All tokenless clients on
   this machine share one number. Any thread. */
uint64_t gate_requester(const struct sockaddr *peer, struct span authorization);

/* Looks up the token in AUTHORIZATION and caches it for gate_check. Blocks. Any thread. */
void gate_look_up(struct access *access, struct span authorization);

#endif
