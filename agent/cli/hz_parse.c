/* SPDX-License-Identifier: Apache-2.0 */
/* Parses digits itself: strtod would accept "nan", "1e3", " 99" and, in some locales, a comma. */
#include "hz_parse.h"

#include <stdbool.h>

uint32_t hz_parse(const char *text) {
  uint64_t mhz = 0;
  unsigned decimals = 0;
  bool is_fraction = false;
  if (*text < '0' || *text > '9') return 0;
  for (; *text != '\0'; text++) {
    if (*text == '.' && !is_fraction) {
      is_fraction = true;
      continue;
    }
    if (*text < '0' || *text > '9' || decimals == 3 || mhz > HZ_MAX * 1000) return 0;
    mhz = mhz * 10 + (uint64_t)(*text - '0');
    decimals += is_fraction;
  }
  for (; decimals < 3; decimals++) mhz *= 10;
  return mhz >= HZ_MHZ_MIN && mhz <= HZ_MAX * 1000 ? (uint32_t)mhz : 0;
}
