/* SPDX-License-Identifier: Apache-2.0 */
/* The flush answer counts what was shipped since the daemon's start, so what one run brought is the
   difference to this figure, taken before it.  Another program that the same daemon samples at the
   same time is in the difference too: the line it goes into is for people, the books are exact. */
#include "shipped.h"
#include "daemon_call.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>

int shipped_records(const char *socket, uint32_t timeout_ms, uint64_t *ret_records) {
  char *text;
  int error = daemon_call_status(socket, timeout_ms, &text);
  if (error != 0) return error;
  cJSON *status = cJSON_Parse(text);
  free(text);
  const cJSON *loss = cJSON_GetObjectItemCaseSensitive(status, "loss");
  const cJSON *shipped = cJSON_GetObjectItemCaseSensitive(loss, "shipped");
  if (!cJSON_IsNumber(shipped) || shipped->valuedouble < 0)
    error = -EBADMSG;
  else
    *ret_records = (uint64_t)shipped->valuedouble;
  cJSON_Delete(status);
  return error;
}
