/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of /proc/stat is the sum of all CPUs, in ticks: "cpu user nice system idle iowait
   irq softirq steal guest guest_nice".  User and nice include the guests of this machine.  Kernels
   before 2.6.11 have no steal, which counts as 0.  A kernel that counts by its tick never sees an
   interrupt, so irq is 0.  A kernel that measures interrupts does not charge them to processes. */
#include "proc_board.h"
#include "proc_stat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS, FIELDS_MIN = IDLE + 1 };

int proc_board_parse(struct span text, struct proc_board *ret) {
  char line[256];
  uint64_t ticks[FIELDS] = {0};
  int count = 0;
  size_t len = text.len < sizeof line ? text.len : sizeof line - 1;
  memcpy(line, text.data, len);
  line[len] = '\0';
  line[strcspn(line, "\n")] = '\0';
  if (strncmp(line, "cpu ", 4) != 0) return -EBADMSG;
  for (char *at = line + 4, *end; count < FIELDS; at = end, count++) {
    ticks[count] = strtoull(at, &end, 10);
    if (end == at) break;
  }
  if (count < FIELDS_MIN) return -EBADMSG;
  uint64_t interrupts = ticks[IRQ] + ticks[SOFTIRQ];
  uint64_t busy = ticks[USER] + ticks[NICE] + ticks[SYSTEM] + interrupts;
  ret->stolen_ns = proc_ticks_to_ns(ticks[STEAL]);
  ret->interrupt_ns = ticks[IRQ] > 0 ? proc_ticks_to_ns(interrupts) : 0;
  ret->busy_ns = proc_ticks_to_ns(busy) + ret->stolen_ns;
  return 0;
}

int proc_board_read(struct proc_board *ret) {
  uint8_t text[256];
  *ret = (struct proc_board){0};
  int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  ssize_t got = read(fd, text, sizeof text);
  int error = got < 0 ? -errno : 0;
  close(fd);
  return error ? error : proc_board_parse(span_of(text, (size_t)got), ret);
}
