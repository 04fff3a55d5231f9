/* SPDX-License-Identifier: Apache-2.0 */
/* `run --collector` applies only to a daemon that must be started first.  A running daemon has its
   own collector, and samples would not reach the collector that the option names.  The daemon's
   status reports its collector.  The timeout is short, so that a program starts without delay. */
#include "daemon_collector.h"
#include "daemon_call.h"
#include "field.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATIENCE_MS = 500 };

#define AGREE_WITHIN_S 2.0 /* the collector's own threshold (ingest/placement.c) */
#define OFFSET_S_MAX 9e9   /* more does not fit, and is no offset */

int daemon_collector(const char *socket, char ret[DAEMON_COLLECTOR_BYTES]) {
  char *json = NULL;
  int error = daemon_call_status(socket, PATIENCE_MS, &json);
  if (error != 0) return error;
  cJSON *status = cJSON_Parse(json);
  if (cJSON_IsObject(status))
    snprintf(ret, DAEMON_COLLECTOR_BYTES, "%s", field_text(status, "collector"));
  else
    error = -EBADMSG;
  cJSON_Delete(status);
  free(json);
  return error;
}

int64_t daemon_clock_offset_ns(const cJSON *status) {
  double offset_s = field_number(field_find(status, "uplink"), "clock_offset_s");
  bool is_offset = fabs(offset_s) > AGREE_WITHIN_S && fabs(offset_s) < OFFSET_S_MAX;
  return is_offset ? (int64_t)(offset_s * 1e9) : 0;
}

int64_t daemon_ask_clock_offset_ns(const char *socket) {
  char *json = NULL;
  if (daemon_call_status(socket, PATIENCE_MS, &json) != 0) return 0;
  cJSON *status = cJSON_Parse(json);
  int64_t offset_ns = daemon_clock_offset_ns(status);
  cJSON_Delete(status);
  free(json);
  return offset_ns;
}
