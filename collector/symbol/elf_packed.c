/* SPDX-License-Identifier: Apache-2.0 */
/* libelf unpacks a section up to the length that its header claims. So the claims are checked
   before any section is unpacked. Old files have the claim in the section itself (.zdebug_info:
   "ZLIB" and eight bytes, big-endian).

   Every version of libelf reads zlib; it reads zstd only from 0.189 on, if built with it. So
   fleetprof's own routine unpacks zstd here. The buffer is exactly the claimed size, which counts
   against the same limit; other contents are rejected. The section headers are then changed to
   uncompressed, so libelf and libdw use the bytes directly. */
#include "elf_packed.h"

#include "common/buf.h"
#include "proto/compress.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2 /* glibc's <elf.h> has it from 2.37 on */
#endif

enum { OLD_HEAD_BYTES = 12, OLD_WORD_BYTES = 4 };

struct unpacked_section {
  struct unpacked_section *next;
  struct buf bytes;
};

struct opening {
  struct elf_packed *packed;
  Elf *elf;
  size_t names; /* section number of the section names */
  char *why;
  size_t why_len;
};

void elf_packed_fini(struct elf_packed *packed) {
  for (struct unpacked_section *section = packed->sections, *next; section != NULL;
       section = next) {
    next = section->next;
    buf_fini(&section->bytes);
    free(section);
  }
  *packed = (struct elf_packed){0};
}

static const char *name_of(const struct opening *opening, const GElf_Shdr *section) {
  const char *name = elf_strptr(opening->elf, opening->names, section->sh_name);
  return name != NULL ? name : "";
}

static uint64_t claim_of_old(Elf_Scn *scn) {
  Elf_Data *raw = elf_rawdata(scn, NULL);
  uint64_t claim = 0;
  if (raw == NULL || raw->d_buf == NULL || raw->d_size < OLD_HEAD_BYTES) return 0;
  const uint8_t *bytes = raw->d_buf;
  if (memcmp(bytes, "ZLIB", OLD_WORD_BYTES) != 0) return 0;
  for (int i = OLD_WORD_BYTES; i < OLD_HEAD_BYTES; i++) claim = claim << 8 | bytes[i];
  return claim;
}

static int count_claim(struct opening *opening, uint64_t claim) {
  struct elf_packed *packed = opening->packed;
  if (claim > ELF_UNPACKED_BYTES_MAX - packed->claimed_bytes) return -EOVERFLOW;
  packed->claimed_bytes += claim;
  return 0;
}

/* Whether NAME is debug information that this program reads. */
static bool is_read(const char *name) {
  static const char *const others[] = {"aranges", "frame", "loc", "macinfo", "macro",
                                       "gnu_pub", "names", "pub", "gdb_",    "loclists"};
  static const char debug[] = ".debug_";
  if (strncmp(name, debug, sizeof debug - 1) != 0) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strncmp(name + sizeof debug - 1, others[i], strlen(others[i])) == 0) return false;
  return true;
}

/* Returns the bytes of SCN behind its compression header. */
static struct span packed_bytes(const struct opening *opening, Elf_Scn *scn) {
  size_t head = gelf_getclass(opening->elf) == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
  Elf_Data *raw = elf_rawdata(scn, NULL);
  if (raw == NULL || raw->d_buf == NULL || raw->d_size < head) return span_of(NULL, 0);
  return span_of((const uint8_t *)raw->d_buf + head, raw->d_size - head);
}

/* Makes BYTES the contents of SCN in libelf. */
static bool put_bytes(Elf_Scn *scn, GElf_Shdr *section, const GElf_Chdr *head, struct span bytes) {
  section->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
  section->sh_size = bytes.len;
  section->sh_addralign = head->ch_addralign;
  if (gelf_update_shdr(scn, section) == 0) return false;
  Elf_Data *raw = elf_rawdata(scn, NULL), *data = elf_getdata(scn, NULL);
  if (raw == NULL || data == NULL) return false;
  raw->d_buf = data->d_buf = (void *)(uintptr_t)bytes.data;
  raw->d_size = data->d_size = bytes.len;
  raw->d_type = data->d_type = ELF_T_BYTE;
  return true;
}

static int unpack(struct opening *opening, Elf_Scn *scn, GElf_Shdr *section,
                  const GElf_Chdr *head) {
  struct unpacked_section *unpacked = calloc(1, sizeof *unpacked);
  if (unpacked == NULL) return -ENOMEM;
  unpacked->next = opening->packed->sections;
  opening->packed->sections = unpacked;
  int error = decompress(packed_bytes(opening, scn), (size_t)head->ch_size,
                         (size_t)ELF_UNPACKED_BYTES_MAX, &unpacked->bytes);
  if (error == 0 && !put_bytes(scn, section, head, buf_span(&unpacked->bytes))) error = -EBADMSG;
  if (error == -EBADMSG)
    snprintf(opening->why, opening->why_len, "its %s is damaged: that is no zstd of %llu bytes",
             name_of(opening, section), (unsigned long long)head->ch_size);
  return error;
}

static int open_packed(struct opening *opening, Elf_Scn *scn, GElf_Shdr *section) {
  GElf_Chdr head;
  if (gelf_getchdr(scn, &head) == NULL) return 0; /* libelf fails in the same way when it is read */
  int error = count_claim(opening, head.ch_size);
  if (error != 0 || head.ch_type == ELFCOMPRESS_ZLIB || !is_read(name_of(opening, section)))
    return error;
  if (head.ch_type == ELFCOMPRESS_ZSTD)
    return head.ch_size > 0 ? unpack(opening, scn, section, &head) : 0;
  snprintf(opening->why, opening->why_len,
           "its %s is compressed in a way that is not known here (type %u)",
           name_of(opening, section), (unsigned)head.ch_type);
  return -EBADMSG;
}

static int open_section(struct opening *opening, Elf_Scn *scn) {
  GElf_Shdr section;
  if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
  if ((section.sh_flags & SHF_COMPRESSED) != 0) return open_packed(opening, scn, &section);
  if (section.sh_type == SHT_NOBITS || strncmp(name_of(opening, &section), ".zdebug", 7) != 0)
    return 0;
  return count_claim(opening, claim_of_old(scn));
}

int elf_packed_open(struct elf_packed *packed, Elf *elf, char *why, size_t why_len) {
  struct opening opening = {.packed = packed, .elf = elf, .why = why, .why_len = why_len};
  Elf_Scn *scn = NULL;
  int error = 0;
  why[0] = '\0';
  if (elf_getshdrstrndx(elf, &opening.names) != 0) return -EBADMSG;
  while (error == 0 && (scn = elf_nextscn(elf, scn)) != NULL) error = open_section(&opening, scn);
  return error;
}
