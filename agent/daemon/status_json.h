/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the status's JSON directly into a buffer. */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* Writes "TEXT", quoted and escaped. */
void json_text(struct buf *out, const char *text, size_t len);

/* Writes "NAME": with a comma before it, unless an object has just been opened.  The others add a
   value. */
void json_name(struct buf *out, const char *name);
void json_string(struct buf *out, const char *name, const char *text); /* NULL: "" */
void json_number(struct buf *out, const char *name, uint64_t value);
void json_fraction(struct buf *out, const char *name, double value);
void json_bool(struct buf *out, const char *name, bool value);
void json_open(struct buf *out, const char *name); /* "NAME": { */

#endif
