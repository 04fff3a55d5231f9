/* SPDX-License-Identifier: Apache-2.0 */
/* libelf unpacks a section to the length that its header claims, and no further: so the claims are
   what has to be looked at, before anything is unpacked. */
#include "elf_packed.h"

#include <errno.h>
#include <gelf.h>
#include <stddef.h>

int elf_packed_check(Elf *elf, uint64_t *unpacked_bytes) {
  Elf_Scn *scn = NULL;
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr section;
    GElf_Chdr packed;
    if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
    if ((section.sh_flags & SHF_COMPRESSED) == 0 || gelf_getchdr(scn, &packed) == NULL) continue;
    if (packed.ch_size > ELF_UNPACKED_BYTES_MAX - *unpacked_bytes) return -EOVERFLOW;
    *unpacked_bytes += packed.ch_size;
  }
  return 0;
}
