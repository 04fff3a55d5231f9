/* SPDX-License-Identifier: Apache-2.0 */
/* What compressed sections would unpack to, as they claim. */
#ifndef SYMBOL_ELF_PACKED_H
#define SYMBOL_ELF_PACKED_H

#include <libelf.h>
#include <stdint.h>

#define ELF_UNPACKED_BYTES_MAX (512ULL << 20) /* of all files that are read together */

/* Adds what the sections of ELF unpack to to *UNPACKED_BYTES.  Returns 0, -EOVERFLOW over
   ELF_UNPACKED_BYTES_MAX, or -EBADMSG. */
int elf_packed_check(Elf *elf, uint64_t *unpacked_bytes);

#endif
