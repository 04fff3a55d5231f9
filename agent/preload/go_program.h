/* SPDX-License-Identifier: Apache-2.0 */
/* Detects Go programs. Go's runtime has signals, stacks and a profiler of its own. */
#ifndef PRELOAD_GO_PROGRAM_H
#define PRELOAD_GO_PROGRAM_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* True if a program with COUNT program headers, loaded at BASE, has Go's note or the mark before
   its build information. Reads nothing outside the segments. */
bool go_program_is_one(const ElfW(Phdr) * headers, size_t count, uintptr_t base);

/* The same for the program of this process. */
bool go_program_is_this(void);

#endif
