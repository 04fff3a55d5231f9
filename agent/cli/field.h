/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a JSON object from a writer that may have another version: a missing field is 0, "" or
   false. */
#ifndef CLI_FIELD_H
#define CLI_FIELD_H

#include <stdbool.h>

struct cJSON;

/* Borrowed; NULL if missing. */
const struct cJSON *field_find(const struct cJSON *object, const char *name);

double field_number(const struct cJSON *object, const char *name);
const char *field_text(const struct cJSON *object, const char *name); /* borrowed */
bool field_is_true(const struct cJSON *object, const char *name);

#endif
