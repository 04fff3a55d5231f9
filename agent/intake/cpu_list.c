/* SPDX-License-Identifier: Apache-2.0 */
/* Offline CPUs leave holes in the numbers, so counting is not enough: an event is bound to a CPU by
   its number, and the daemon's rings are in the same order. */
#include "cpu_list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ONLINE_PATH "/sys/devices/system/cpu/online"
#define POSSIBLE_PATH "/sys/devices/system/cpu/possible"
enum { TEXT_BYTES = 4096, NUMBER_MAX = 1 << 20 };

static int parse_number(const char **text, int *ret) {
  char *end;
  if (**text < '0' || **text > '9') return -EINVAL;
  unsigned long number = strtoul(*text, &end, 10);
  if (number > NUMBER_MAX) return -EOVERFLOW;
  *text = end;
  *ret = (int)number;
  return 0;
}

static int add_range(struct cpu_list *list, int first, int last) {
  if (last < first) return -EINVAL;
  for (int cpu = first; cpu <= last; cpu++) {
    if (list->count == CPU_LIST_MAX) return -EOVERFLOW;
    list->cpus[list->count++] = cpu;
  }
  return 0;
}

int cpu_list_parse(const char *text, struct cpu_list *ret) {
  ret->count = 0;
  for (;;) {
    int first = 0;
    int error = parse_number(&text, &first);
    int last = first;
    if (error == 0 && *text == '-') {
      text++;
      error = parse_number(&text, &last);
    }
    if (error == 0) error = add_range(ret, first, last);
    if (error != 0) return error;
    if (*text == '\0' || *text == '\n') return 0;
    if (*text++ != ',') return -EINVAL;
  }
}

static int read_list(const char *path, struct cpu_list *ret) {
  char text[TEXT_BYTES];
  FILE *file = fopen(path, "re");
  if (file == NULL) return -errno;
  char *line = fgets(text, sizeof text, file);
  fclose(file);
  return line != NULL ? cpu_list_parse(line, ret) : -EINVAL;
}

unsigned cpu_list_possible(void) {
  struct cpu_list list;
  return read_list(POSSIBLE_PATH, &list) == 0 ? list.count : 0;
}

int cpu_list_online(struct cpu_list *ret) {
  if (read_list(ONLINE_PATH, ret) == 0) return 0;
  long count = sysconf(_SC_NPROCESSORS_ONLN);
  ret->count = 0;
  return count > 0 ? add_range(ret, 0, (int)count - 1) : -ENOENT;
}
