/* SPDX-License-Identifier: Apache-2.0 */
/* Supports only the relocations that compilers and assemblers emit in debug sections: absolute
   words, and for RISC-V differences. Its linker shortens code, so a difference is one addition and
   one subtraction.

   REL files have the addend in the place itself, RELA files in the relocation. */
#include "object_relocate.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum operation { SET, ADD, SUBTRACT };

struct kind {
  uint16_t machine;
  uint16_t type;
  uint8_t bytes;
  uint8_t operation;
};

static const struct kind kinds[] = {
    {EM_X86_64, R_X86_64_64, 8, SET},       {EM_X86_64, R_X86_64_32, 4, SET},
    {EM_X86_64, R_X86_64_32S, 4, SET},      {EM_386, R_386_32, 4, SET},
    {EM_AARCH64, R_AARCH64_ABS64, 8, SET},  {EM_AARCH64, R_AARCH64_ABS32, 4, SET},
    {EM_ARM, R_ARM_ABS32, 4, SET},          {EM_MIPS, R_MIPS_32, 4, SET},
    {EM_RISCV, R_RISCV_64, 8, SET},         {EM_RISCV, R_RISCV_32, 4, SET},
    {EM_RISCV, R_RISCV_SET32, 4, SET},      {EM_RISCV, R_RISCV_SET16, 2, SET},
    {EM_RISCV, R_RISCV_SET8, 1, SET},       {EM_RISCV, R_RISCV_ADD64, 8, ADD},
    {EM_RISCV, R_RISCV_ADD32, 4, ADD},      {EM_RISCV, R_RISCV_ADD16, 2, ADD},
    {EM_RISCV, R_RISCV_ADD8, 1, ADD},       {EM_RISCV, R_RISCV_SUB64, 8, SUBTRACT},
    {EM_RISCV, R_RISCV_SUB32, 4, SUBTRACT}, {EM_RISCV, R_RISCV_SUB16, 2, SUBTRACT},
    {EM_RISCV, R_RISCV_SUB8, 1, SUBTRACT},
};

struct object {
  Elf *elf;
  GElf_Ehdr header;
  size_t names; /* section number of the section names */
  size_t text;  /* number of .text; 0: there is none */
};

static const char *name_of(const struct object *object, const GElf_Shdr *section) {
  const char *name = elf_strptr(object->elf, object->names, section->sh_name);
  return name != NULL ? name : "";
}

static const struct kind *find_kind(const struct object *object, uint64_t type) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i].machine == object->header.e_machine && kinds[i].type == type) return &kinds[i];
  return NULL;
}

static uint64_t read_number(const struct object *object, const uint8_t *at, unsigned len) {
  bool is_big = object->header.e_ident[EI_DATA] == ELFDATA2MSB;
  uint64_t number = 0;
  for (unsigned i = 0; i < len; i++) number = number << 8 | at[is_big ? i : len - 1 - i];
  return number;
}

static void write_number(const struct object *object, uint8_t *at, unsigned len, uint64_t number) {
  bool is_big = object->header.e_ident[EI_DATA] == ELFDATA2MSB;
  for (unsigned i = 0; i < len; i++) at[is_big ? len - 1 - i : i] = (uint8_t)(number >> (8 * i));
}

/* Returns the value of SYMBOL: a place in .text, or in a section without addresses (strings,
   lines). */
static uint64_t value_of(const struct object *object, const GElf_Sym *symbol) {
  GElf_Shdr section;
  if (symbol->st_shndx == object->text || symbol->st_shndx == SHN_ABS) return symbol->st_value;
  Elf_Scn *scn = elf_getscn(object->elf, symbol->st_shndx);
  bool is_loaded =
      scn == NULL || gelf_getshdr(scn, &section) == NULL || (section.sh_flags & SHF_ALLOC) != 0;
  return is_loaded ? OBJECT_NOWHERE : symbol->st_value;
}

static void apply(const struct object *object, const GElf_Rela *relocation, bool has_addend,
                  Elf_Data *symbols, Elf_Data *target) {
  const struct kind *kind = find_kind(object, GELF_R_TYPE(relocation->r_info));
  GElf_Sym symbol;
  if (kind == NULL || relocation->r_offset > target->d_size) return;
  if (kind->bytes > target->d_size - relocation->r_offset) return;
  if (gelf_getsym(symbols, (int)GELF_R_SYM(relocation->r_info), &symbol) == NULL) return;
  uint8_t *at = (uint8_t *)target->d_buf + relocation->r_offset;
  uint64_t before = read_number(object, at, kind->bytes);
  uint64_t value = value_of(object, &symbol);
  value += has_addend ? (uint64_t)relocation->r_addend : kind->operation == SET ? before : 0;
  if (kind->operation == ADD) value = before + value;
  if (kind->operation == SUBTRACT) value = before - value;
  write_number(object, at, kind->bytes, value);
}

/* Returns the bytes of section NUMBER, unpacked, if it is a debug section. */
static Elf_Data *debug_bytes(const struct object *object, size_t number) {
  GElf_Shdr section;
  Elf_Scn *scn = elf_getscn(object->elf, number);
  if (scn == NULL || gelf_getshdr(scn, &section) == NULL) return NULL;
  if (strncmp(name_of(object, &section), ".debug_", 7) != 0) return NULL;
  if (section.sh_type != SHT_PROGBITS) return NULL;
  if ((section.sh_flags & SHF_COMPRESSED) != 0 && elf_compress(scn, 0, 0) < 0) return NULL;
  Elf_Data *bytes = elf_getdata(scn, NULL);
  return bytes != NULL && bytes->d_buf != NULL ? bytes : NULL;
}

static void apply_section(const struct object *object, Elf_Scn *scn, const GElf_Shdr *section) {
  bool has_addend = section->sh_type == SHT_RELA;
  if (section->sh_entsize == 0) return;
  Elf_Scn *table = elf_getscn(object->elf, section->sh_link);
  Elf_Data *target = debug_bytes(object, section->sh_info);
  Elf_Data *symbols = table != NULL ? elf_getdata(table, NULL) : NULL;
  Elf_Data *relocations = elf_getdata(scn, NULL);
  if (target == NULL || symbols == NULL || relocations == NULL) return;
  uint64_t count = section->sh_size / section->sh_entsize;
  for (uint64_t i = 0; i < count && i <= INT32_MAX; i++) {
    GElf_Rela relocation;
    GElf_Rel plain;
    if (has_addend) {
      if (gelf_getrela(relocations, (int)i, &relocation) == NULL) return;
    } else {
      if (gelf_getrel(relocations, (int)i, &plain) == NULL) return;
      relocation = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
    }
    apply(object, &relocation, has_addend, symbols, target);
  }
}

static void find_text(struct object *object) {
  Elf_Scn *scn = NULL;
  GElf_Shdr section;
  while (object->text == 0 && (scn = elf_nextscn(object->elf, scn)) != NULL)
    if (gelf_getshdr(scn, &section) != NULL && strcmp(name_of(object, &section), ".text") == 0)
      object->text = elf_ndxscn(scn);
}

int object_relocate(Elf *elf) {
  struct object object = {.elf = elf};
  Elf_Scn *scn = NULL;
  GElf_Shdr section;
  if (gelf_getehdr(elf, &object.header) == NULL) return -EBADMSG;
  if (elf_getshdrstrndx(elf, &object.names) != 0) return -EBADMSG;
  find_text(&object);
  while ((scn = elf_nextscn(elf, scn)) != NULL) {
    if (gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
    if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL)
      apply_section(&object, scn, &section);
  }
  return 0;
}
