/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of object files (kernel modules). Their addresses are filled in at load time.
 */
#ifndef SYMBOL_OBJECT_RELOCATE_H
#define SYMBOL_OBJECT_RELOCATE_H

#include <libelf.h>

/* Address of code outside .text: beyond all of .text, since its place is unknown. */
#define OBJECT_NOWHERE 0xf0000000U

/* Fills in the debug sections of ELF, an object file in writable memory, as if its .text were
   loaded at 0. They are unpacked, so call elf_packed_open first. Malformed sections and unsupported
   relocations stay unchanged. Returns 0 or -EBADMSG. */
int object_relocate(Elf *elf);

#endif
