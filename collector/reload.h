/* SPDX-License-Identifier: Apache-2.0 */
/* Reloads settings while the collector runs (SIGHUP). */
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

struct reload_parts { /* all borrowed; must outlive the reload */
  int argc;
  char **argv;
  struct settings *settings; /* the current ones; only changeable settings are changed */
  struct quotas *quotas;
  struct http *http;
  struct ingest *ingest;
  struct retention *retention;
  struct ca *ca;
  const struct service_notify *notify;
};

/* Makes SIGHUP reload the settings from their sources. Returns 0 or -ENOMEM. */
int reload_start(struct event_base *loop, const struct reload_parts *parts, struct reload **ret);
void reload_stop(struct reload *reload);

#endif
