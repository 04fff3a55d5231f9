/* SPDX-License-Identifier: Apache-2.0 */
/* The limit is set by the administrator, or by the kernel: it lowers the sysctl by itself when its
   interrupts take more than kernel.perf_cpu_time_max_percent. So it is read at the first THROTTLE
   and not at the start.

   `status` shows the number of records, and answers show it in `why`. The weight of each sample is
   still one period. */
#include "throttle.h"
#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char sysctl_path[] = "/proc/sys/kernel/perf_event_max_sample_rate";

/* Returns 0 if it cannot be read. */
static uint64_t read_max_hz(void) {
  char text[32];
  int fd = open(sysctl_path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t got = read(fd, text, sizeof text - 1);
  close(fd);
  if (got <= 0) return 0;
  text[got] = '\0';
  return strtoull(text, NULL, 10);
}

/* Appends the reason to WHY of LEN bytes, if it fits completely; MAX_HZ 0: unknown. Pure. */
static void explain(char *why, size_t len, uint64_t max_hz) {
  char reason[128], limit[64] = "";
  size_t used = strnlen(why, len);
  if (max_hz > 0) snprintf(limit, sizeof limit, " is %llu Hz", (unsigned long long)max_hz);
  int wanted = snprintf(reason, sizeof reason,
                        "%sthe kernel throttles it: kernel.perf_event_max_sample_rate%s",
                        used > 0 ? "; " : "", limit);
  if (wanted <= 0 || used + (size_t)wanted >= len) return;
  memcpy(why + used, reason, (size_t)wanted + 1);
}

void throttle_note(struct target *target) {
  target->residual.kernel.is_blind = true;
  if (target->rate.throttled++ > 0) return;
  explain(target->held.why, sizeof target->held.why, read_max_hz());
}
