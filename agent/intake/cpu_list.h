/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs of this machine are online: an event a CPU is what `run` hands over. */
#ifndef INTAKE_CPU_LIST_H
#define INTAKE_CPU_LIST_H

enum { CPU_LIST_MAX = 4096 };

struct cpu_list {
  int cpus[CPU_LIST_MAX]; /* ascending */
  unsigned count;
};

/* Reads the kernel's form, "0-3,8".  Returns 0, -EINVAL, or -EOVERFLOW for more than fit.  Pure. */
int cpu_list_parse(const char *text, struct cpu_list *ret);

/* The CPUs that are online now; where the kernel does not say which, as many as there are.  Returns
   0 or -errno. */
int cpu_list_online(struct cpu_list *ret);

/* How many CPUs this machine may have while it runs, those offline included; 0 where the kernel
   does not say. */
unsigned cpu_list_possible(void);

#endif
