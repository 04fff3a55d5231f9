/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether there is a program to run. */
#ifndef CLI_PROGRAM_LOOK_H
#define CLI_PROGRAM_LOOK_H

#include <limits.h>

/* Searches for PROGRAM as execvp does.  Returns 0 with the path of an executable file (empty if it
   is too long), or -ENOENT, -EACCES or another -errno if there is none. */
int program_look(const char *program, char ret_path[PATH_MAX]);

#endif
