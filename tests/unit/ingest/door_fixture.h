/* SPDX-License-Identifier: Apache-2.0 */
/* A whole collector's door on loopback, with its real store, authority and symbolizer, in a folder
   of its own; its loop runs on a thread, the test is the boards. */
#ifndef TESTS_DOOR_FIXTURE_H
#define TESTS_DOOR_FIXTURE_H

#include "common/buf.h"
#include "identity/access.h"
#include "identity/ca.h"
#include "ingest/ingest.h"
#include "ingest/trusted_time.h"
#include "names/symbolizer.h"
#include "store/store.h"

#include <event2/event.h>
#include <pthread.h>

struct door {
  char dir[64];
  struct ca *ca;
  struct access *access;
  struct store *store;
  struct debug_store *debug;
  struct symbolizer *symbolizer;
  struct quotas *quotas;
  struct trusted_time *time;
  struct event_base *loop;
  struct event *stop;
  struct ingest *ingest;
  bool is_shut;
  pthread_t thread;
  int stop_pipe[2];
};

/* Opens everything and starts the loop.  Returns 0, or -1 with the reason on stderr. */
int door_start(struct door *door);
/* Ends the loop and closes the door; its figures stay, the store and the rest stay open. */
void door_shut(struct door *door);
void door_stop(struct door *door); /* and removes the folder */

/* Returns the value of a line of /metrics that begins with NAME and a space. */
unsigned long door_metric(struct door *door, const char *name);

#endif
