/* SPDX-License-Identifier: Apache-2.0 */
/* libelf unpacks a section to the length that its header claims, and no further: so the claims are
   what has to be looked at, before anything is unpacked.  Old files have them in the section itself
   (.zdebug_info: "ZLIB" and eight bytes, the highest first). */
#include "elf_packed.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

enum { OLD_HEAD_BYTES = 12, OLD_WORD_BYTES = 4 };

static uint64_t claim_of_old(Elf_Scn *scn) {
  Elf_Data *raw = elf_rawdata(scn, NULL);
  uint64_t claim = 0;
  if (raw == NULL || raw->d_buf == NULL || raw->d_size < OLD_HEAD_BYTES) return 0;
  const uint8_t *bytes = raw->d_buf;
  if (memcmp(bytes, "ZLIB", OLD_WORD_BYTES) != 0) return 0;
  for (int i = OLD_WORD_BYTES; i < OLD_HEAD_BYTES; i++) claim = claim << 8 | bytes[i];
  return claim;
}

/* What SCN would unpack to; 0 when it is not compressed. */
static uint64_t claim_of(Elf *elf, Elf_Scn *scn, const GElf_Shdr *section, size_t names) {
  GElf_Chdr packed;
  if ((section->sh_flags & SHF_COMPRESSED) != 0)
    return gelf_getchdr(scn, &packed) != NULL ? packed.ch_size : 0;
  const char *name = elf_strptr(elf, names, section->sh_name);
  bool is_old = name != NULL && strncmp(name, ".zdebug", 7) == 0;
  return is_old && section->sh_type != SHT_NOBITS ? claim_of_old(scn) : 0;
}

int elf_packed_check(Elf *elf, uint64_t *unpacked_bytes) {
  Elf_Scn *scn = NULL;
  size_t names;
  if (elf_getshdrstrndx(elf, &names) != 0) return -EBADMSG;
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
    uint64_t claim = claim_of(elf, scn, &section, names);
    if (claim > ELF_UNPACKED_BYTES_MAX - *unpacked_bytes) return -EOVERFLOW;
    *unpacked_bytes += claim;
  }
  return 0;
}
