/* SPDX-License-Identifier: Apache-2.0 */
/* Who may have which answer. */
#ifndef HTTP_GATE_H
#define HTTP_GATE_H

#include "common/span.h"
#include "identity/access.h"

struct sockaddr;

struct gate_visitor {
  bool server_is_loopback, peer_is_loopback;
  bool is_forwarded;  /* the head has a field that proxies add */
  bool is_read;       /* GET or HEAD */
  bool was_looked_up; /* what is not known of the token by now is nothing */
  struct span host;   /* empty: none was given */
  struct span authorization;
  struct span origin;     /* empty: none was given, as by what is no browser */
  struct span fetch_site; /* Sec-Fetch-Site; the same */
};

/* Returns whether HOST (name or address, with or without a port) is this machine's own. */
bool gate_is_loopback_host(struct span host);

/* Returns whether ADDRESS is 127.0.0.0/8, ::1, or the former mapped into IPv6. */
bool gate_is_loopback_address(const struct sockaddr *address);

enum { GATE_LOOK_UP = 1 };

/* Returns 0 when VISITOR may do what ROLE may; 401 when a (better) token is needed, 403 when the
   token is good but not for this; WHY then says so.  GATE_LOOK_UP when the token has to be looked
   up first.  Waits for nothing.  Any thread. */
int gate_check(struct access *access, const struct gate_visitor *visitor, enum role role,
               const char **why);

/* Returns a number that all requests of one visitor have in common, whatever connection they come
   by (never 0): who shows a token is known by that, others by their address, of IPv6 the first
   half. All of this machine is one.  Any thread. */
uint64_t gate_requester(const struct sockaddr *peer, struct span authorization);

/* Looks up the token in AUTHORIZATION, for gate_check to know it.  Blocks.  Any thread. */
void gate_look_up(struct access *access, struct span authorization);

#endif
