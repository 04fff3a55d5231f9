/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are placed by time since boot, because a board's wall clock may start in 1970 and jump.
   Wall time is for display and for certificates. All times are unsigned nanoseconds: 2^64 of them
   last until the year 2554.

   Times written by users are parsed here too, because the HTTP API and the command line must
   interpret "-1h" alike. Calendar arithmetic uses proleptic Gregorian days, without the C library's
   time zones: RFC 3339 carries its own offset. A leap second (:60) is the first instant of the next
   minute. */
#include "clock.h"
#include "quantity.h"
#include "sums.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

enum { BOOT_ID_BYTES = 16, UUID_TEXT_BYTES = 36, SECONDS_A_DAY = 86400 };

static const struct quantity_unit duration_units[] = {
    {"ns", 1},
    {"us", 1000},
    {"ms", NS_PER_MS},
    {"s", NS_PER_SECOND},
    {"m", 60 * NS_PER_SECOND},
    {"h", 3600 * NS_PER_SECOND},
    {"d", SECONDS_A_DAY *NS_PER_SECOND},
    {"w", 7 * SECONDS_A_DAY *NS_PER_SECOND},
};

static uint64_t read_clock(clockid_t id) {
  struct timespec now = {0};
  clock_gettime(id, &now); /* cannot fail for these clocks on any supported kernel */
  return now.tv_sec < 0 ? 0 : (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t clock_boottime_ns(void) {
  return read_clock(CLOCK_BOOTTIME);
}

uint64_t clock_monotonic_ns(void) {
  return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_cpu_ns(void) {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_walltime_ns(void) {
  return read_clock(CLOCK_REALTIME);
}

bool clock_is_kept(void) {
  struct timex state = {.modes = 0};
  return adjtimex(&state) >= 0 && (state.status & STA_UNSYNC) == 0;
}

static uint64_t apart(uint64_t a, uint64_t b) {
  return a > b ? a - b : b - a;
}

uint64_t clock_judge_ns(const struct clock_word *word, uint64_t wall_ns, uint64_t boot_ns) {
  uint64_t agreed_ns = sum_of(word->agreed_ns, boot_ns);
  if (word->agreed_ns == 0 || apart(agreed_ns, wall_ns) < CLOCK_APART_NS) return wall_ns;
  bool is_confirmed = word->confirmed_ns != 0 &&
                      apart(sum_of(word->confirmed_ns, boot_ns), wall_ns) < CLOCK_APART_NS;
  return is_confirmed ? wall_ns : agreed_ns;
}

/* Both are read and written relaxed: each alone is true of some moment. */
static _Atomic uint64_t heard_agreed_ns, heard_confirmed_ns;

void clock_hear(const struct clock_word *word) {
  atomic_store_explicit(&heard_agreed_ns, word->agreed_ns, memory_order_relaxed);
  atomic_store_explicit(&heard_confirmed_ns, word->confirmed_ns, memory_order_relaxed);
}

/* Whether the kernel reports that the time WALL_NS is synchronized. */
static bool is_kept_at(uint64_t wall_ns) {
  struct timex state = {.modes = 0};
  if (adjtimex(&state) < 0 || (state.status & STA_UNSYNC) != 0) return false;
  uint64_t kernels_ns = state.time.tv_sec < 0 ? 0 : (uint64_t)state.time.tv_sec * NS_PER_SECOND;
  return apart(kernels_ns, wall_ns) < CLOCK_APART_NS;
}

static uint64_t judge(uint64_t wall_ns) {
  const struct clock_word word = {
      atomic_load_explicit(&heard_agreed_ns, memory_order_relaxed),
      atomic_load_explicit(&heard_confirmed_ns, memory_order_relaxed),
  };
  if (word.agreed_ns == 0) return wall_ns;
  uint64_t judged_ns = clock_judge_ns(&word, wall_ns, clock_boottime_ns());
  return judged_ns != wall_ns && is_kept_at(wall_ns) ? wall_ns : judged_ns;
}

uint64_t clock_judged_ns(void) {
  return judge(clock_walltime_ns());
}

int64_t clock_overruled_by_ns(void) {
  uint64_t wall_ns = clock_walltime_ns();
  return (int64_t)(judge(wall_ns) - wall_ns);
}

static int hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

static bool parse_uuid(const char *text, size_t len, uint8_t id[BOOT_ID_BYTES]) {
  size_t digits = 0;
  for (size_t i = 0; i < len && digits < 2 * BOOT_ID_BYTES; i++) {
    if (text[i] == '-') continue;
    int digit = hex_digit(text[i]);
    if (digit < 0) return false;
    id[digits / 2] = (uint8_t)(digits % 2 ? id[digits / 2] | digit : digit << 4);
    digits++;
  }
  return digits == 2 * BOOT_ID_BYTES;
}

/* The only state of this file. A container without /proc must still have one boot id for each
   process, or its batches would seem to come from many boots. */
static uint8_t boot_id[BOOT_ID_BYTES];
static pthread_once_t boot_id_once = PTHREAD_ONCE_INIT;

static void read_boot_id(void) {
  char text[UUID_TEXT_BYTES];
  ssize_t len = -1;
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    len = read(fd, text, sizeof text);
    close(fd);
  }
  if (len > 0 && parse_uuid(text, (size_t)len, boot_id)) return;
  if (getrandom(boot_id, sizeof boot_id, 0) == (ssize_t)sizeof boot_id) return;
  uint64_t stamp[2] = {clock_walltime_ns(), clock_monotonic_ns() ^ (uint64_t)getpid()};
  memcpy(boot_id, stamp, sizeof boot_id);
}

void clock_boot_id(uint8_t id[16]) {
  pthread_once(&boot_id_once, read_boot_id);
  memcpy(id, boot_id, BOOT_ID_BYTES);
}

int clock_parse_duration(const char *text, uint64_t *ret_ns) {
  if (strcmp(text, "0") == 0) {
    *ret_ns = 0;
    return 0;
  }
  return quantity_parse(text, duration_units, sizeof duration_units / sizeof *duration_units,
                        ret_ns);
}

/* Days from 1970-01-01 to a date: years start in March, so that the leap day is the last one, and
   the days before a month are a straight line rounded down. */
static int64_t days_from_date(int64_t year, int64_t month, int64_t day) {
  if (month <= 2) year--;
  int64_t march_month = (month + 9) % 12;
  int64_t era = year / 400, year_of_era = year % 400;
  int64_t day_of_year = (153 * march_month + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

static int64_t days_in_month(int64_t year, int64_t month) {
  static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Reads exactly DIGITS digits and the letter AFTER (0: none), moving *TEXT past both. */
static bool take_number(const char **text, int digits, char after, int64_t *ret) {
  int64_t value = 0;
  for (int i = 0; i < digits; i++) {
    char letter = (*text)[i];
    if (letter < '0' || letter > '9') return false;
    value = value * 10 + (letter - '0');
  }
  if (after != '\0' && (*text)[digits] != after) return false;
  *text += digits + (after != '\0');
  *ret = value;
  return true;
}

/* Reads ".123456789" of any length; digits after the ninth are ignored. */
static bool take_fraction(const char **text, uint64_t *ret_ns) {
  uint64_t ns = 0, unit = NS_PER_SECOND / 10;
  if (**text == '.') {
    const char *at = *text + 1;
    if (*at < '0' || *at > '9') return false;
    for (; *at >= '0' && *at <= '9'; at++, unit /= 10) ns += (uint64_t)(*at - '0') * unit;
    *text = at;
  }
  *ret_ns = ns;
  return true;
}

/* Reads "Z", "+02:00" or "-0130"'s RFC form "-01:30" to the end of TEXT. */
static bool take_offset(const char *text, int64_t *ret_seconds) {
  if (*text == 'Z' || *text == 'z') {
    *ret_seconds = 0;
    return text[1] == '\0';
  }
  int64_t sign = *text == '-' ? -1 : 1, hours, minutes;
  if (*text != '+' && *text != '-') return false;
  text++;
  if (!take_number(&text, 2, ':', &hours) || !take_number(&text, 2, '\0', &minutes)) return false;
  *ret_seconds = sign * (hours * 3600 + minutes * 60);
  return *text == '\0' && hours < 24 && minutes < 60;
}

static int parse_rfc3339(const char *text, uint64_t *ret_ns) {
  int64_t year, month, day, hour, minute, second, offset;
  uint64_t fraction_ns;
  if (!take_number(&text, 4, '-', &year) || !take_number(&text, 2, '-', &month) ||
      !take_number(&text, 2, '\0', &day))
    return -EINVAL;
  if (*text != 'T' && *text != 't' && *text != ' ') return -EINVAL;
  text++;
  if (!take_number(&text, 2, ':', &hour) || !take_number(&text, 2, ':', &minute) ||
      !take_number(&text, 2, '\0', &second))
    return -EINVAL;
  if (!take_fraction(&text, &fraction_ns) || !take_offset(text, &offset)) return -EINVAL;
  if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) return -EINVAL;
  if (hour > 23 || minute > 59 || second > 60) return -EINVAL;
  int64_t seconds = days_from_date(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 +
                    second - offset;
  if (seconds < 0 || (uint64_t)seconds >= UINT64_MAX / NS_PER_SECOND) return -EINVAL;
  *ret_ns = (uint64_t)seconds * NS_PER_SECOND + fraction_ns;
  return 0;
}

static int parse_unix(const char *text, uint64_t *ret_ns) {
  uint64_t seconds, fraction_ns;
  if (quantity_parse_digits(&text, &seconds) != 0 || !take_fraction(&text, &fraction_ns) ||
      *text != '\0' || seconds >= UINT64_MAX / NS_PER_SECOND)
    return -EINVAL;
  *ret_ns = seconds * NS_PER_SECOND + fraction_ns;
  return 0;
}

/* A result before 1970 or after the last nanosecond is clamped: "-9999d" means all. */
static int parse_relative(const char *text, uint64_t now_ns, uint64_t *ret_ns) {
  uint64_t distance_ns;
  if (clock_parse_duration(text + 1, &distance_ns) != 0) return -EINVAL;
  if (*text == '-')
    *ret_ns = distance_ns > now_ns ? 0 : now_ns - distance_ns;
  else
    *ret_ns = distance_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + distance_ns;
  return 0;
}

int clock_parse_time(const char *text, uint64_t now_ns, uint64_t *ret_ns) {
  if (strncmp(text, "now", 3) == 0) {
    text += 3;
    if (*text == '\0') {
      *ret_ns = now_ns;
      return 0;
    }
    if (*text != '-' && *text != '+') return -EINVAL;
  }
  if (*text == '-' || *text == '+') return parse_relative(text, now_ns, ret_ns);
  return parse_rfc3339(text, ret_ns) == 0 ? 0 : parse_unix(text, ret_ns);
}

void clock_print_time(uint64_t ns, char text[32]) {
  time_t seconds = (time_t)(ns / NS_PER_SECOND);
  struct tm date = {0};
  gmtime_r(&seconds, &date);
  snprintf(text, 32, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ", (unsigned)(date.tm_year + 1900) % 10000,
           (unsigned)(date.tm_mon + 1) % 100, (unsigned)date.tm_mday % 100,
           (unsigned)date.tm_hour % 100, (unsigned)date.tm_min % 100, (unsigned)date.tm_sec % 100,
           (unsigned)(ns % NS_PER_SECOND / NS_PER_MS));
}
