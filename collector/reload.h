/* SPDX-License-Identifier: Apache-2.0 */
/* Settings read anew while the collector runs (SIGHUP). */
#ifndef COLLECTOR_RELOAD_H
#define COLLECTOR_RELOAD_H

struct ca;
struct event_base;
struct http;
struct ingest;
struct quotas;
struct reload;
struct retention;
struct service_notify;
struct settings;

struct reload_parts { /* borrowed, and outlive the reload */
  int argc;
  char **argv;
  struct settings *settings; /* those in force; only what can change is ever changed */
  struct quotas *quotas;
  struct http *http;
  struct ingest *ingest;
  struct retention *retention;
  struct ca *ca;
  const struct service_notify *notify;
};

/* From now on SIGHUP reads the settings anew, from where they came.  Returns 0 or -ENOMEM. */
int reload_start(struct event_base *loop, const struct reload_parts *parts, struct reload **ret);
void reload_stop(struct reload *reload);

#endif
