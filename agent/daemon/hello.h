/* SPDX-License-Identifier: Apache-2.0 */
/* What the daemon says of itself: Hello and Ping (uplink.h's callbacks), and what a batch says of
   the cost (shipper.h's).  CONTEXT is the worker. */
#ifndef DAEMON_HELLO_H
#define DAEMON_HELLO_H

struct effort;
struct hello;
struct ping;
struct worker;

/* Prepares what does not change: machine, labels. */
void hello_init(struct worker *worker);

/* Strings and labels stay the worker's. */
void hello_fill(void *context, struct hello *hello);
void hello_fill_ping(void *context, struct ping *ping);
void hello_fill_effort(void *context, struct effort *effort);

#endif
