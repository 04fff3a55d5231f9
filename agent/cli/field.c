/* SPDX-License-Identifier: Apache-2.0 */
/* fleetprof and the daemon may have different versions, in both directions: a board is updated
   while its daemon runs.  So nothing here fails, and callers print a default for a missing field.
   Names are case-sensitive: cJSON's plain look-up would take "PID" for "pid".  The daemon has
   already made the programs' strings safe for a terminal (status_json.c). */
#include "field.h"

#include <cjson/cJSON.h>
#include <stddef.h>

const cJSON *field_find(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

double field_number(const cJSON *object, const char *name) {
  const cJSON *value = field_find(object, name);
  return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

const char *field_text(const cJSON *object, const char *name) {
  const cJSON *value = field_find(object, name);
  return cJSON_IsString(value) && value->valuestring != NULL ? value->valuestring : "";
}

bool field_is_true(const cJSON *object, const char *name) {
  return cJSON_IsTrue(field_find(object, name));
}
