/* SPDX-License-Identifier: Apache-2.0 */
/* strtoull accepts signs, blanks and overflow, and strtod depends on the locale; an option or a
   query parameter must not. So numbers are parsed here exactly: no sign, no blank, no exponent,
   nothing after the unit. A result that does not fit is rejected, never clipped.

   Three decimals and a factor below 2^50 (a week in ns, a tebibyte) keep the fraction's product
   within 64 bits, also on CPUs without wider integers. */
#include "quantity.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DECIMALS_MAX = 3, DECIMALS_SCALE = 1000 };

int quantity_parse_digits(const char **text, uint64_t *ret) {
  const char *at = *text;
  uint64_t value = 0;
  if (*at < '0' || *at > '9') return -EINVAL;
  for (; *at >= '0' && *at <= '9'; at++) {
    uint64_t digit = (uint64_t)(*at - '0');
    if (value > (UINT64_MAX - digit) / 10) return -EOVERFLOW;
    value = value * 10 + digit;
  }
  *text = at;
  *ret = value;
  return 0;
}

/* Reads ".5" as 500 thousandths; without a point the result is 0. */
static int parse_decimals(const char **text, uint64_t *ret_thousandths) {
  uint64_t thousandths = 0;
  if (**text == '.') {
    const char *at = *text + 1;
    int digits = 0;
    for (; digits < DECIMALS_MAX && *at >= '0' && *at <= '9'; digits++, at++)
      thousandths = thousandths * 10 + (uint64_t)(*at - '0');
    if (digits == 0) return -EINVAL;
    for (; digits < DECIMALS_MAX; digits++) thousandths *= 10;
    *text = at;
  }
  *ret_thousandths = thousandths;
  return 0;
}

int quantity_parse(const char *text, const struct quantity_unit *units, size_t unit_count,
                   uint64_t *ret) {
  uint64_t whole, thousandths;
  int error = quantity_parse_digits(&text, &whole);
  if (error == 0) error = parse_decimals(&text, &thousandths);
  if (error != 0) return error;
  for (size_t i = 0; i < unit_count; i++) {
    if (strcmp(text, units[i].name) != 0) continue;
    uint64_t factor = units[i].factor;
    uint64_t fraction = thousandths * factor / DECIMALS_SCALE;
    if (whole > (UINT64_MAX - fraction) / factor) return -EOVERFLOW;
    *ret = whole * factor + fraction;
    return 0;
  }
  return -EINVAL;
}

const char *quantity_print(double number, char text[QUANTITY_TEXT_BYTES]) {
  snprintf(text, QUANTITY_TEXT_BYTES, number < 1000 ? "%.4g" : "%.0f", number);
  return text;
}
