/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_units.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const double count_max = 1e15; /* above it a double has no fractions */
static const double count_min = 1e-6; /* CPU time divided by less may overflow */

/* Units used without the user's choice. Their differences follow other rules. */
static const char *const own_names[] = {"run", "board-hour"};

/* Accepts digits, point and exponent, fewer forms than strtod. */
static const char *parse_count(const char *text, double *ret) {
  char *end;
  size_t len = strlen(text);
  if (len == 0 || strspn(text, "0123456789.eE+-") != len) return "is not a number";
  double value = strtod(text, &end);
  if (*end != '\0') return "is not a number";
  if (!(value > 0)) return "is not above 0";
  if (value < count_min) return "is below 1e-6";
  if (!(value <= count_max)) return "is above 1e15";
  *ret = value;
  return NULL;
}

static const char *find_name_fault(const char *name) {
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./-";
  if (name[0] == '\0') return "is empty";
  if (strlen(name) > DIFF_UNITS_NAME_MAX) return "is longer than 32 letters";
  if (strspn(name, letters) != strlen(name)) return "has other characters than A-Z a-z 0-9 _ . / -";
  for (unsigned i = 0; i < sizeof own_names / sizeof *own_names; i++)
    if (strcmp(name, own_names[i]) == 0) return "is counted without --unit: use another name";
  return NULL;
}

const char *diff_units_parse(const char *const texts[DIFF_UNITS_PARTS], struct view_units *ret,
                             enum diff_units_part *ret_part) {
  struct view_units units = {.name = texts[DIFF_UNITS_NAME]};
  if (!texts[DIFF_UNITS_NAME] && !texts[DIFF_UNITS_A] && !texts[DIFF_UNITS_B]) return NULL;
  for (int part = DIFF_UNITS_NAME; part < DIFF_UNITS_PARTS; part++) {
    *ret_part = (enum diff_units_part)part;
    const char *text = texts[part];
    if (text == NULL)
      return part == DIFF_UNITS_NAME ? "is missing: what are the units called?"
                                     : "is missing: how many units has that side?";
    const char *fault = part == DIFF_UNITS_NAME
                            ? find_name_fault(text)
                            : parse_count(text, part == DIFF_UNITS_A ? &units.a : &units.b);
    if (fault != NULL) return fault;
  }
  *ret = units;
  return NULL;
}
