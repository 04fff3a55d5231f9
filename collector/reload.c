/* SPDX-License-Identifier: Apache-2.0 */
/* SIGHUP: reads the command line, the environment and the config file again as at the start. If any
   value is invalid, nothing changes: one line reports it, and the current settings stay. Otherwise
   all changeable settings apply at once, also to connected boards. Other changed settings
   (addresses, folders) are logged; they need a restart, which loses no samples.

   Signals may arrive faster than files can be read. So reloads are at least PAUSE_MS apart, and
   signals in between cause one reload, after the last of them. */
#include "reload.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/service_notify.h"
#include "http/http.h"
#include "identity/ca.h"
#include "ingest/ingest.h"
#include "settings.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MS = 100, ERROR_BYTES = 512 };

struct reload {
  struct reload_parts parts;
  struct event *signal, *due;
  uint64_t last_ns;
};

static void warn_of_text(const char *name, const char *now, const char *wanted) {
  bool is_same = now == wanted || (now != NULL && wanted != NULL && strcmp(now, wanted) == 0);
  if (!is_same) log_warn("reload --%s: the new value needs a restart", name);
}

static void warn_of_list(const char *name, const struct option_list *now,
                         const struct option_list *wanted) {
  bool is_same = now->count == wanted->count;
  for (unsigned i = 0; is_same && i < now->count; i++)
    is_same = strcmp(now->values[i], wanted->values[i]) == 0;
  if (!is_same) log_warn("reload --%s: the new values need a restart", name);
}

static void warn_of_what_stays(const struct settings *now, const struct settings *wanted) {
  warn_of_text("data", now->data, wanted->data);
  warn_of_text("agents", now->agents, wanted->agents);
  warn_of_text("http", now->http, wanted->http);
  warn_of_list("public-name", &now->public_names, &wanted->public_names);
  warn_of_text("debuginfod", now->debuginfod, wanted->debuginfod);
  warn_of_text("translators", now->translators, wanted->translators);
  warn_of_list("watch", &now->watched, &wanted->watched);
  warn_of_text("watch-by", now->watched_by, wanted->watched_by);
  if (now->handshakes_per_address != wanted->handshakes_per_address)
    log_warn("reload --handshakes-per-address: the new value needs a restart");
  if (now->board_cpus_max != wanted->board_cpus_max)
    log_warn("reload --board-cpus-max: the new value needs a restart");
}

static void take_over(const struct reload_parts *parts, const struct settings *wanted) {
  struct settings *now = parts->settings;
  now->retention_ns = wanted->retention_ns;
  now->retention_raw_ns = wanted->retention_raw_ns;
  now->retention_minutes_ns = wanted->retention_minutes_ns;
  now->retention_hours_ns = wanted->retention_hours_ns;
  now->max_bytes = wanted->max_bytes;
  now->certificate_life_ns = wanted->certificate_life_ns;
  now->board_bytes = wanted->board_bytes;
  now->board_refusals = wanted->board_refusals;
  now->board_series = wanted->board_series;
  now->board_nodes = wanted->board_nodes;
  now->board_modules = wanted->board_modules;
  now->memory_limit_bytes = wanted->memory_limit_bytes;
  now->verbose = wanted->verbose;
  const struct quota_limits limits = settings_quotas(now);
  quotas_set_limits(parts->quotas, &limits);
  ingest_set_memory_limit(parts->ingest, settings_memory_limit(now));
  http_set_memory_limit(parts->http, settings_memory_limit(now));
  const struct retention_limits kept = settings_retention(now);
  retention_set(parts->retention, &kept);
  ca_set_board_life(parts->ca, now->certificate_life_ns / NS_PER_SECOND);
  log_set_level(now->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
}

static void read_anew(struct reload *reload) {
  const struct reload_parts *parts = &reload->parts;
  struct settings wanted;
  char error[ERROR_BYTES];
  reload->last_ns = clock_monotonic_ns();
  int result = settings_read(parts->argc, parts->argv, &wanted, error, sizeof error);
  if (result != 0) {
    log_error("reload %s: the settings stay as they are", result < 0 ? error : "nothing to read");
    return;
  }
  warn_of_what_stays(parts->settings, &wanted);
  take_over(parts, &wanted);
  log_info("reload settings: read anew");
}

static void tell_and_read(struct reload *reload) {
  service_notify_reloading(reload->parts.notify);
  read_anew(reload);
  service_notify_send(reload->parts.notify, "READY=1");
}

static void on_due(evutil_socket_t fd, short what, void *context) {
  (void)fd, (void)what;
  tell_and_read(context);
}

static void on_signal(evutil_socket_t number, short what, void *context) {
  struct reload *reload = context;
  struct timeval wait = {.tv_usec = PAUSE_MS * 1000};
  (void)number, (void)what;
  if (event_pending(reload->due, EV_TIMEOUT, NULL)) return;
  if (clock_monotonic_ns() - reload->last_ns >= PAUSE_MS * NS_PER_MS)
    tell_and_read(reload);
  else
    event_add(reload->due, &wait);
}

int reload_start(struct event_base *loop, const struct reload_parts *parts, struct reload **ret) {
  struct reload *reload = calloc(1, sizeof *reload);
  if (reload == NULL) return -ENOMEM;
  reload->parts = *parts;
  reload->due = evtimer_new(loop, on_due, reload);
  reload->signal = evsignal_new(loop, SIGHUP, on_signal, reload);
  if (reload->due == NULL || reload->signal == NULL || event_add(reload->signal, NULL) != 0) {
    reload_stop(reload);
    return -ENOMEM;
  }
  *ret = reload;
  return 0;
}

void reload_stop(struct reload *reload) {
  if (reload == NULL) return;
  if (reload->signal != NULL) event_free(reload->signal);
  if (reload->due != NULL) event_free(reload->due);
  free(reload);
}
