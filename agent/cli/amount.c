/* SPDX-License-Identifier: Apache-2.0 */
/* Two digits are enough to act on.  `--format json` prints the exact numbers. */
#include "amount.h"

#include <string.h>

const char *amount_bytes(double bytes, char amount[AMOUNT_BYTES]) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  unsigned unit = 0;
  while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
    bytes /= 1024;
    unit++;
  }
  snprintf(amount, AMOUNT_BYTES, unit > 0 && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes,
           units[unit]);
  return amount;
}

const char *amount_time(double seconds, char amount[AMOUNT_BYTES]) {
  if (seconds < 120)
    snprintf(amount, AMOUNT_BYTES, "%.0f s", seconds);
  else if (seconds < 7200)
    snprintf(amount, AMOUNT_BYTES, "%.0f min", seconds / 60);
  else if (seconds < 172800)
    snprintf(amount, AMOUNT_BYTES, "%.0f h", seconds / 3600);
  else
    snprintf(amount, AMOUNT_BYTES, "%.0f days", seconds / 86400);
  return amount;
}

void amount_print_count(double count, const char *noun, FILE *out) {
  size_t len = strlen(noun);
  const char *plural = len > 0 && noun[len - 1] == 'h' ? "es" : "s";
  fprintf(out, "%.0f %s%s", count, noun, count == 1 ? "" : plural);
}
