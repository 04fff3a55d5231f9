/* SPDX-License-Identifier: Apache-2.0 */
/* A stub jumps through a slot that the dynamic linker fills with a function's address; a relocation
   of the slot names the function. If the function is an IFUNC of the module itself, the relocation
   has the address of its resolver. The stub then gets the name of the symbol there. A stub without
   a name belongs to [plt]. */
#include "plt_names.h"

#include "plt_stubs.h"
#include "symbol_set.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum {
  SLOTS_MAX = 1 << 20,
  INDIRECT_MAX = 1024, /* IFUNCs of one module; the C library has 39 */
};

struct slot {
  uint64_t address;
  struct span name;  /* borrowed; empty: an IFUNC without a name yet, or unknown */
  uint64_t resolver; /* of an IFUNC */
};

struct slots {
  struct slot *slots;
  uint32_t count, cap, indirect_count;
};

bool plt_names_is_table(const char *section_name) {
  return strcmp(section_name, ".plt") == 0 || strncmp(section_name, ".plt.", 5) == 0 ||
         strcmp(section_name, ".iplt") == 0;
}

static int add_slot(struct slots *slots, struct slot slot) {
  if (slots->count == SLOTS_MAX) return 0;
  if (slots->count == slots->cap) {
    uint32_t cap = slots->cap == 0 ? 256 : 2 * slots->cap;
    struct slot *grown = reallocarray(slots->slots, cap, sizeof *grown);
    if (grown == NULL) return -ENOMEM;
    slots->slots = grown;
    slots->cap = cap;
  }
  slots->slots[slots->count++] = slot;
  return 0;
}

/* Reads a REL or RELA relocation: its place and the number of its symbol. */
static bool read_relocation(Elf_Data *bytes, int number, bool has_addend, GElf_Rela *ret) {
  GElf_Rel plain;
  if (has_addend) return gelf_getrela(bytes, number, ret) != NULL;
  if (gelf_getrel(bytes, number, &plain) == NULL) return false;
  *ret = (GElf_Rela){.r_offset = plain.r_offset, .r_info = plain.r_info};
  return true;
}

/* Whether the addend of a relocation of TYPE is a resolver's address. */
static bool is_indirect(unsigned machine, uint64_t type) {
  return (machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
         (machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE) ||
         (machine == EM_RISCV && type == R_RISCV_IRELATIVE);
}

/* Adds the slots of the relocations in SCN, of a file for MACHINE. */
static int read_relocations(Elf *elf, unsigned machine, Elf_Scn *scn, const GElf_Shdr *section,
                            struct slots *slots) {
  GElf_Shdr table;
  Elf_Scn *symbols = elf_getscn(elf, section->sh_link);
  if (symbols == NULL || gelf_getshdr(symbols, &table) == NULL) return 0;
  if (table.sh_type != SHT_DYNSYM || section->sh_entsize == 0) return 0;
  Elf_Data *bytes = elf_getdata(scn, NULL), *entries = elf_getdata(symbols, NULL);
  if (bytes == NULL || entries == NULL) return 0;
  uint64_t count = section->sh_size / section->sh_entsize;
  int error = 0;
  for (uint64_t i = 0; error == 0 && i < count && i < SLOTS_MAX; i++) {
    GElf_Rela relocation;
    GElf_Sym symbol;
    if (!read_relocation(bytes, (int)i, section->sh_type == SHT_RELA, &relocation)) break;
    size_t number = (size_t)GELF_R_SYM(relocation.r_info);
    struct slot slot = {.address = relocation.r_offset, .resolver = (uint64_t)relocation.r_addend};
    if (number == 0 && is_indirect(machine, GELF_R_TYPE(relocation.r_info))) {
      if (slots->indirect_count++ < INDIRECT_MAX) error = add_slot(slots, slot);
      continue;
    }
    if (number == 0 || gelf_getsym(entries, (int)number, &symbol) == NULL) continue;
    const char *name = elf_strptr(elf, table.sh_link, symbol.st_name);
    if (name == NULL || name[0] == '\0') continue;
    slot.name = span_of_string(name);
    error = add_slot(slots, slot);
  }
  return error;
}

static int compare_slots(const void *left, const void *right) {
  const struct slot *a = left, *b = right;
  return a->address < b->address ? -1 : a->address > b->address;
}

static bool is_better(const struct candidate *a, const struct candidate *b) {
  return a->is_indirect != b->is_indirect ? a->is_indirect : a->rank > b->rank;
}

/* Returns the name of the IFUNC with its resolver at ADDRESS, else of the resolver; empty if there
   is none. */
static struct span name_at(const struct symbol_set *set, uint64_t address) {
  const struct candidate *best = NULL;
  for (uint32_t i = 0; i < set->count; i++) {
    const struct candidate *candidate = &set->candidates[i];
    if (candidate->start != address || candidate->rank < SYMBOL_LABEL) continue;
    if (best == NULL || is_better(candidate, best)) best = candidate;
  }
  return best != NULL ? best->name : span_of(NULL, 0);
}

static void name_indirect(struct slots *slots, const struct symbol_set *set) {
  for (uint32_t i = 0; i < slots->count; i++)
    if (slots->slots[i].name.len == 0)
      slots->slots[i].name = name_at(set, slots->slots[i].resolver);
}

static int add_stub(const struct slots *slots, const struct plt_stub *stub, uint64_t limit,
                    struct symbol_set *set) {
  struct slot key = {.address = stub->slot};
  const struct slot *slot =
      slots->count > 0 ? bsearch(&key, slots->slots, slots->count, sizeof key, compare_slots)
                       : NULL;
  if (slot == NULL || slot->name.len == 0) return 0;
  struct candidate candidate = {
      .start = stub->start, .size = stub->size, .limit = limit, .rank = SYMBOL_STUB};
  int error = symbol_set_join(set, slot->name, "@plt", &candidate.name);
  return error != 0 ? error : symbol_set_add(set, &candidate);
}

/* State of the two passes over the sections of ELF: first relocations, then linkage tables. */
struct reading {
  Elf *elf;
  struct symbol_set *set;
  struct slots slots;
  GElf_Ehdr header;
  uint64_t got;
};

static int read_table(struct reading *reading, Elf_Scn *scn, const GElf_Shdr *section) {
  Elf_Data *bytes = elf_rawdata(scn, NULL);
  if (bytes == NULL || bytes->d_buf == NULL) return 0;
  struct plt_code code = {.bytes = span_of(bytes->d_buf, bytes->d_size),
                          .address = section->sh_addr,
                          .got = reading->got,
                          .machine = reading->header.e_machine};
  struct plt_stub stub;
  int error = 0;
  while (error == 0 && plt_stubs_next(&code, &stub))
    error = add_stub(&reading->slots, &stub, section->sh_addr + section->sh_size, reading->set);
  return error;
}

static int visit(struct reading *reading, Elf_Scn *scn, const GElf_Shdr *section, const char *name,
                 bool is_second) {
  bool is_relocations = section->sh_type == SHT_REL || section->sh_type == SHT_RELA;
  if (!is_second && strcmp(name, ".got.plt") == 0) reading->got = section->sh_addr;
  if (!is_second && is_relocations)
    return read_relocations(reading->elf, reading->header.e_machine, scn, section, &reading->slots);
  bool is_table = section->sh_type == SHT_PROGBITS && plt_names_is_table(name) &&
                  (section->sh_flags & (SHF_EXECINSTR | SHF_COMPRESSED)) == SHF_EXECINSTR;
  return is_second && is_table ? read_table(reading, scn, section) : 0;
}

static int visit_all(struct reading *reading, bool is_second) {
  size_t names;
  Elf_Scn *scn = NULL;
  int error = 0;
  if (elf_getshdrstrndx(reading->elf, &names) != 0) return 0;
  while (error == 0 && (scn = elf_nextscn(reading->elf, scn)) != NULL) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == NULL) break;
    const char *name = elf_strptr(reading->elf, names, section.sh_name);
    if (name != NULL) error = visit(reading, scn, &section, name, is_second);
  }
  return error;
}

int plt_names_add(Elf *elf, struct symbol_set *set) {
  struct reading reading = {.elf = elf, .set = set};
  if (gelf_getehdr(elf, &reading.header) == NULL) return 0;
  if (reading.header.e_ident[EI_DATA] != ELFDATA2LSB) return 0;
  int error = visit_all(&reading, false);
  if (reading.slots.count > 0) {
    qsort(reading.slots.slots, reading.slots.count, sizeof *reading.slots.slots, compare_slots);
    name_indirect(&reading.slots, set);
    if (error == 0) error = visit_all(&reading, true);
  }
  free(reading.slots.slots);
  return error;
}
