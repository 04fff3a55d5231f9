/* SPDX-License-Identifier: Apache-2.0 */
/* Whether there is a program to run. */
#ifndef CLI_PROGRAM_LOOK_H
#define CLI_PROGRAM_LOOK_H

/* Looks where execvp will look for PROGRAM.  Returns 0 when there is a file that may be executed,
   -ENOENT, -EACCES or another -errno when there is none. */
int program_look(const char *program);

#endif
