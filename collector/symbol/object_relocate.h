/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of object files (kernel modules): addresses in it are filled in by whoever
   loads it. */
#ifndef SYMBOL_OBJECT_RELOCATE_H
#define SYMBOL_OBJECT_RELOCATE_H

#include <libelf.h>

/* Where code that is not in .text is put: beyond all of .text, as nobody knows its place. */
#define OBJECT_NOWHERE 0xf0000000U

/* Fills in the debug sections of ELF, an object file in writable memory, as if its .text were
   loaded at 0.  They are unpacked, so elf_packed_check goes first.  What is malformed, or of a kind
   that is not known, stays as it is.  Returns 0 or -EBADMSG. */
int object_relocate(Elf *elf);

#endif
