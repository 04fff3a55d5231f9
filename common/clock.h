/* SPDX-License-Identifier: Apache-2.0 */
/* Time, all in nanoseconds. */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MS 1000000ULL

uint64_t clock_boottime_ns(void);  /* since boot, including suspend: places samples within a boot */
uint64_t clock_monotonic_ns(void); /* for deadlines */
uint64_t clock_cpu_ns(void);       /* of this process */
uint64_t clock_walltime_ns(void);  /* since 1970, as far as this machine knows */

/* True if the kernel reports that the wall clock is synchronized. False after a start, and after a
   step until the clock's daemon reports it again. */
bool clock_is_kept(void);

/* Reads the kernel's boot id into ID. Without /proc it is random, and constant for a process. */
void clock_boot_id(uint8_t id[16]);

/* Reads "250ms", "10s", "1.5h", "30d", "2w", or "0".  Returns 0, -EINVAL or -EOVERFLOW. */
int clock_parse_duration(const char *text, uint64_t *ret_ns);

/* Reads TEXT as RFC 3339, Unix seconds (fraction allowed), "now", "-90s", "-1h", "now-2d" relative
   to NOW_NS.  Returns 0 or -EINVAL. */
int clock_parse_time(const char *text, uint64_t now_ns, uint64_t *ret_ns);

/* Writes NS as RFC 3339 UTC with milliseconds into TEXT of at least 32 bytes. */
void clock_print_time(uint64_t ns, char text[32]);

#endif
