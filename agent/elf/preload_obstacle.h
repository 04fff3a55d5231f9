/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons why a library cannot be preloaded (LD_PRELOAD) into a program. Results are constant texts
   for users, as "static: cannot be preloaded"; NULL if there is no obstacle, or it is unknown. */
#ifndef ELF_PRELOAD_OBSTACLE_H
#define ELF_PRELOAD_OBSTACLE_H

#include "elf_notes.h"

#include <sys/types.h>

/* For a program with NOTES in its file, and an agent built like OWN. Pure. */
const char *preload_obstacle_of_notes(const struct elf_notes *notes, const struct elf_notes *own);

/* For the program that an exec of the file at PATH by this process starts; for a script, its
   interpreter. */
const char *preload_obstacle_of_file(const char *path);

/* For the program that PID runs now. */
const char *preload_obstacle_of_process(pid_t pid);

/* The reason why no agent has registered from PID's program, although there is no obstacle, as far
   as its mappings show. Never NULL. */
const char *preload_explain_silence(pid_t pid);

#endif
