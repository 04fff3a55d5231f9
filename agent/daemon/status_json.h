/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as the status writes it, straight into a buffer. */
#ifndef DAEMON_STATUS_JSON_H
#define DAEMON_STATUS_JSON_H

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* "TEXT", whatever it holds. */
void json_text(struct buf *out, const char *text, size_t len);

/* "NAME": with a comma before it unless an object has just been opened; and with a value. */
void json_name(struct buf *out, const char *name);
void json_string(struct buf *out, const char *name, const char *text); /* NULL: "" */
void json_number(struct buf *out, const char *name, uint64_t value);
void json_fraction(struct buf *out, const char *name, double value);
void json_bool(struct buf *out, const char *name, bool value);
void json_open(struct buf *out, const char *name); /* "NAME": { */

#endif
