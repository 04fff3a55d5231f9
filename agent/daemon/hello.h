/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon's own data: the Hello and Ping messages (callbacks of uplink.h), and the cost in a
   batch (shipper.h).  CONTEXT is the worker. */
#ifndef DAEMON_HELLO_H
#define DAEMON_HELLO_H

struct effort;
struct hello;
struct ping;
struct worker;

/* Prepares the constant parts: machine, labels. */
void hello_init(struct worker *worker);

/* Strings and labels are borrowed from the worker. */
void hello_fill(void *context, struct hello *hello);
void hello_fill_ping(void *context, struct ping *ping);
void hello_fill_effort(void *context, struct effort *effort);

#endif
