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
uint64_t clock_walltime_ns(void);  /* since 1970, by this machine's wall clock */

/* Two clocks that differ by as much do not drift: one of them is wrong. */
#define CLOCK_APART_NS (600 * NS_PER_SECOND)

/* 2024-01-01: no clock of a machine that runs this program is right before. */
#define CLOCK_PLAUSIBLE_NS (1704067200 * NS_PER_SECOND)

/* The word of others about the wall clock: wall times less our time since boot; 0: none. */
struct clock_word {
  uint64_t agreed_ns;    /* on which they agree */
  uint64_t confirmed_ns; /* of the wall clock if they agreed with it last */
};

/* Returns the time for the wall clock WALL_NS at BOOT_NS since boot: the agreed time if the wall
   clock is far from it and was not confirmed. Pure. */
uint64_t clock_judge_ns(const struct clock_word *word, uint64_t wall_ns, uint64_t boot_ns);

/* The time to place data by, since 1970: clock_judge_ns with the last word passed to clock_hear. A
   wall clock that the kernel reports as synchronized is always used. Any thread. */
uint64_t clock_judged_ns(void);

/* How far that is ahead of the wall clock, where it is another; else 0.  Any thread. */
int64_t clock_overruled_by_ns(void);
void clock_hear(const struct clock_word *word);

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
