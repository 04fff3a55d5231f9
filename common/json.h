/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON incrementally; only the nesting is stored. The output is always well-formed UTF-8
   that may also be embedded in an HTML page. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include "span.h"
#include "sums.h"

struct buf;

enum { JSON_DEPTH_MAX = 16 };

struct json { /* caller's storage */
  struct buf *out;
  size_t limit; /* bytes of OUT; after that nothing more is written */
  unsigned depth;
  bool has_items[JSON_DEPTH_MAX];
  bool is_after_key;
  bool is_full;
};

void json_init(struct json *json, struct buf *out, size_t limit);

void json_open(struct json *json, char bracket);  /* '{' or '[' */
void json_close(struct json *json, char bracket); /* '}' or ']' */
void json_key(struct json *json, const char *key);

void json_string(struct json *json, const char *text); /* NULL is written as null */
void json_span(struct json *json, struct span text);
void json_uint(struct json *json, uint64_t value);
void json_wide(struct json *json, wide_sum value);
void json_int(struct json *json, int64_t value);
void json_double(struct json *json, double value); /* NaN and infinities are written as null */
void json_bool(struct json *json, bool value);

/* A value that is already JSON, written in place by the caller: returns the address for LEN_MAX
   bytes, or NULL if the limit or memory does not allow them. json_raw_end sets the number of bytes
   written. */
uint8_t *json_raw_begin(struct json *json, size_t len_max);
void json_raw_end(struct json *json, size_t len);

/* Key and value at once.  Where a number is more than a double holds (JSON_EXACT_MAX), its digits
   follow as a string, under KEY with "_exact" behind it. */
#define JSON_EXACT_MAX (UINT64_C(1) << 53)
void json_key_string(struct json *json, const char *key, const char *text);
void json_key_uint(struct json *json, const char *key, uint64_t value);
void json_key_wide(struct json *json, const char *key, wide_sum value);

#endif
