/* SPDX-License-Identifier: Apache-2.0 */
/* Whether there is a program to run, and which. */
#ifndef CLI_PROGRAM_LOOK_H
#define CLI_PROGRAM_LOOK_H

#include <limits.h>

/* Looks where execvp will look for PROGRAM.  Returns 0 with the path of a file that may be executed
   (empty where it is too long to say), or -ENOENT, -EACCES or another -errno when there is none. */
int program_look(const char *program, char ret_path[PATH_MAX]);

#endif
