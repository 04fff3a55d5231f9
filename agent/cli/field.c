/* SPDX-License-Identifier: Apache-2.0 */
/* fleetprof and the daemon that it asks may be of different versions, in both directions (a board
   is updated while its daemon runs): so nothing here fails, and whoever prints a field prints
   something sensible of none.  Names are compared as they are written: cJSON's plain look-up would
   take "PID" for "pid".  What the daemon says of programs is their own words, cleaned by it
   (status_json.c) before they get here. */
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
