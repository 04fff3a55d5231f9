/* SPDX-License-Identifier: Apache-2.0 */
/* `run --collector` is for a daemon that must be started first.  One that runs has a collector of
   its own, and samples that went there would be looked for in vain where the words said.  Its
   status says which; whoever starts a program does not wait long for it. */
#include "daemon_collector.h"
#include "daemon_call.h"
#include "field.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATIENCE_MS = 500 };

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
