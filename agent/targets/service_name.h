/* SPDX-License-Identifier: Apache-2.0 */
/* The service of a program for which the user set none. */
#ifndef TARGETS_SERVICE_NAME_H
#define TARGETS_SERVICE_NAME_H

struct hold_target;
struct process;

/* The service of PROCESS (NULL: unknown), which belongs to the target HELD: the user's setting,
   else the name that the program was started by, else the name of its file. "" if none is known.
   Borrowed from one of the two. */
const char *service_name(const struct hold_target *held, const struct process *process);

#endif
