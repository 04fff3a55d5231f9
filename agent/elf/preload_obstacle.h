/* SPDX-License-Identifier: Apache-2.0 */
/* Why a library cannot be preloaded (LD_PRELOAD) into a program.  Answers are constant words for
   people, as "static: cannot be preloaded"; NULL when nothing stands against it, or nothing can be
   said. */
#ifndef ELF_PRELOAD_OBSTACLE_H
#define ELF_PRELOAD_OBSTACLE_H

#include "elf_notes.h"

#include <sys/types.h>

/* Of a program whose file says NOTES, for an agent that is built as OWN.  Pure. */
const char *preload_obstacle_of_notes(const struct elf_notes *notes, const struct elf_notes *own);

/* Of the program that an exec of the file at PATH by this process begins: of a script, its
   interpreter. */
const char *preload_obstacle_of_file(const char *path);

/* Of the program that PID runs now. */
const char *preload_obstacle_of_process(pid_t pid);

/* Why no agent has come up in PID's program, against which nothing stands; as far as its mappings
   tell.  Never NULL. */
const char *preload_explain_silence(pid_t pid);

#endif
