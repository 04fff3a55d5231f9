/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program was made by Go, whose runtime has signals, stacks and a profiler of its own. */
#ifndef PRELOAD_GO_PROGRAM_H
#define PRELOAD_GO_PROGRAM_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* COUNT program headers of a program that is loaded at BASE: looks for Go's note and for the mark
   in front of its build information.  Reads nothing outside of the segments. */
bool go_program_is_one(const ElfW(Phdr) * headers, size_t count, uintptr_t base);

/* The program that this process runs. */
bool go_program_is_this(void);

#endif
