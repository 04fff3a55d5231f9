/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the online CPUs of this machine: `run` sends one event per CPU. */
#ifndef INTAKE_CPU_LIST_H
#define INTAKE_CPU_LIST_H

enum { CPU_LIST_MAX = 4096 };

struct cpu_list {
  int cpus[CPU_LIST_MAX]; /* ascending */
  unsigned count;
};

/* Parses the kernel's format, "0-3,8".  Returns 0, -EINVAL, or -EOVERFLOW if there are too many.
   Pure. */
int cpu_list_parse(const char *text, struct cpu_list *ret);

/* The CPUs that are online now; if the kernel does not list them, 0 to their number less 1.
   Returns 0 or -errno. */
int cpu_list_online(struct cpu_list *ret);

/* The number of CPUs that this machine may have at run time, including offline ones; 0 if
   unknown. */
unsigned cpu_list_possible(void);

#endif
