/* SPDX-License-Identifier: Apache-2.0 */
/* The service that a program is, where nobody said. */
#ifndef TARGETS_SERVICE_NAME_H
#define TARGETS_SERVICE_NAME_H

struct hold_target;
struct process;

/* The service of PROCESS (NULL: not known), which is of the target HELD: what the user said, else
   the name that the program was started by, else the name of its file.  "" when none is known.
   Borrowed from one of the two. */
const char *service_name(const struct hold_target *held, const struct process *process);

#endif
