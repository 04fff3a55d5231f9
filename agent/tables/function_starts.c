/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols are trusted. A stripped program has only its exported symbols. Of the other functions
   those are found that are called directly: the target of a call is a start if a frame is made
   there. Data in the code may look like a call, but that its target also makes a frame is unlikely.

   ARM's two instruction sets are distinguished by the lowest bit of an address. Calls are searched
   in the set of most symbols; without symbols, in the set of most pushes. If starts of both are
   known, calls are searched once more, in each piece of the code in the set that it looks like.
   Nearly all ARM instructions are unconditional, which is a 14 in the top four bits of each. */
#include "function_starts.h"

#include "instruction_arm.h"
#include "prologue.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>

enum {
  STARTS_MAX = 1 << 20,
  FIRST_STARTS = 1024,
  CODE_BYTES_MAX = 64 << 20, /* limit of the search for calls and pushes */
  PIECE_BYTES = 64,          /* usually in one instruction set */
};

const struct instruction_cpu *function_starts_cpu(const struct elf_image *image, bool is_thumb) {
  switch (image->machine) {
  case EM_ARM:
    if (image->is_64 || image->is_code_big_endian) return NULL;
    return is_thumb ? &instruction_thumb : &instruction_arm;
  case EM_MIPS:
    if (image->is_64) return NULL;
    return image->is_code_big_endian ? &instruction_mips_big : &instruction_mips;
  case EM_RISCV:
    return image->is_64 ? &instruction_riscv : NULL;
  case EM_AARCH64:
    return image->is_64 ? &instruction_aarch64 : NULL;
  case EM_X86_64:
    return image->is_64 ? &instruction_x86_64 : NULL;
  default:
    return NULL;
  }
}

static int add(struct function_starts *starts, struct function_start start) {
  if (starts->count == STARTS_MAX) return 0;
  if (starts->count == starts->cap) {
    uint32_t cap = starts->cap == 0 ? FIRST_STARTS : 2 * starts->cap;
    struct function_start *more = realloc(starts->starts, cap * sizeof *more);
    if (more == NULL) return -ENOMEM;
    starts->starts = more;
    starts->cap = cap;
  }
  starts->starts[starts->count++] = start;
  return 0;
}

/* By address; the one with most bytes first. */
static int by_address(const void *a, const void *b) {
  const struct function_start *one = a, *other = b;
  if (one->address != other->address) return one->address < other->address ? -1 : 1;
  return one->bytes > other->bytes ? -1 : one->bytes < other->bytes;
}

static void settle(struct function_starts *starts) {
  uint32_t kept = 0;
  if (starts->count > 0) qsort(starts->starts, starts->count, sizeof *starts->starts, by_address);
  for (uint32_t i = 0; i < starts->count; i++)
    if (kept == 0 || starts->starts[kept - 1].address != starts->starts[i].address)
      starts->starts[kept++] = starts->starts[i];
  starts->count = kept;
}

static Elf64_Sym symbol_of(const struct elf_image *image, const uint8_t *bytes) {
  return (Elf64_Sym){.st_info = (uint8_t)ELF_FIELD(&image->head, bytes, Sym, st_info),
                     .st_shndx = (uint16_t)ELF_FIELD(&image->head, bytes, Sym, st_shndx),
                     .st_value = ELF_FIELD(&image->head, bytes, Sym, st_value),
                     .st_size = ELF_FIELD(&image->head, bytes, Sym, st_size)};
}

static int add_symbol(const struct elf_image *image, const Elf64_Sym *symbol,
                      struct function_starts *ret) {
  bool has_modes = image->machine == EM_ARM || image->machine == EM_MIPS;
  bool is_other = has_modes && symbol->st_value & 1;
  bool is_function =
      ELF64_ST_TYPE(symbol->st_info) == STT_FUNC || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
  if (!is_function || symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0) return 0;
  if (is_other && image->machine == EM_MIPS) return 0; /* compressed code, which is not read */
  uint64_t bytes = symbol->st_size <= UINT32_MAX ? symbol->st_size : 0;
  return add(ret, (struct function_start){.address = symbol->st_value - is_other,
                                          .bytes = (uint32_t)bytes,
                                          .is_thumb = is_other});
}

static int add_symbols(const struct elf_image *image, const char *section,
                       struct function_starts *ret) {
  struct elf_part part;
  struct span entry;
  int rc = 0;
  if (!elf_image_section(image, section, &part)) return 0;
  while (rc == 0 && span_take(&part.bytes, ELF_SIZE(image, Sym), &entry)) {
    Elf64_Sym symbol = symbol_of(image, entry.data);
    rc = add_symbol(image, &symbol, ret);
  }
  return rc;
}

/* Pushes of registers with the link register differ by the order of their halves. */
static int32_t more_thumb_pushes(struct span code) {
  int32_t more = 0;
  for (size_t at = 0; at + 4 <= code.len; at += 2) {
    uint32_t first = instruction_arm_half(code.data + at);
    uint32_t second = instruction_arm_half(code.data + at + 2);
    bool is_wide = first == 0xe92d && second >> 14 == 1;
    bool is_arm = at % 4 == 0 && second == 0xe92d && first >> 14 == 1;
    more += (first >> 8 == 0xb5 || is_wide) - is_arm;
  }
  return more;
}

bool function_starts_is_thumb(const struct elf_image *image, const struct function_starts *starts) {
  struct elf_part part;
  int64_t more = image->entry & 1;
  uint64_t left = CODE_BYTES_MAX;
  if (image->machine != EM_ARM) return false;
  for (uint32_t i = 0; i < starts->count; i++) more += starts->starts[i].is_thumb ? 1 : -1;
  if (starts->count > 0) return more > 0;
  for (uint32_t cursor = 0; elf_image_code_section(image, &cursor, &part);) {
    if (part.bytes.len > left) break;
    left -= part.bytes.len;
    more += more_thumb_pushes(part.bytes);
  }
  return more > 0;
}

bool function_starts_is_mixed(const struct function_starts *starts) {
  for (uint32_t i = 1; i < starts->count; i++)
    if (starts->starts[i].is_thumb != starts->starts[0].is_thumb) return true;
  return false;
}

bool function_starts_looks_arm(struct span code) {
  size_t words = code.len / 4, always = 0;
  for (size_t i = 0; i < words; i++) always += code.data[4 * i + 3] >> 4 == 14;
  return 2 * always > words;
}

/* The target of a call is a start if it looks like one. */
static int add_call(const struct elf_image *image, uint64_t target, struct function_starts *ret) {
  bool is_thumb = image->machine == EM_ARM && target & 1;
  struct prologue_function function = {.cpu = function_starts_cpu(image, is_thumb),
                                       .start = target - is_thumb};
  function.code = elf_image_at(image, function.start);
  if (function.code.len == 0 || function.start % function.cpu->step != 0) return 0;
  if (prologue_start_at(&function) == PROLOGUE_NO_START) return 0;
  return add(ret, (struct function_start){.address = function.start, .is_thumb = is_thumb});
}

static int add_calls(const struct elf_image *image, const struct elf_part *part,
                     const struct instruction_cpu *cpu, struct function_starts *ret) {
  uint64_t at = 0;
  int rc = 0;
  while (rc == 0 && at < part->bytes.len) {
    struct instruction in;
    cpu->decode(span_of(part->bytes.data + at, part->bytes.len - (size_t)at), part->address + at,
                &in);
    if (in.flow == FLOW_CALL && in.target != 0) rc = add_call(image, in.target, ret);
    at += in.bytes;
  }
  return rc;
}

/* The same for code in both of ARM's instruction sets. */
static int add_mixed_calls(const struct elf_image *image, const struct elf_part *part,
                           struct function_starts *ret) {
  int rc = 0;
  struct elf_part piece = {.address = part->address};
  for (size_t at = 0; rc == 0 && at < part->bytes.len; at += piece.bytes.len) {
    size_t left = part->bytes.len - at;
    piece.address = part->address + at;
    piece.bytes = span_of(part->bytes.data + at, left < PIECE_BYTES ? left : PIECE_BYTES);
    bool is_arm = function_starts_looks_arm(piece.bytes);
    rc = add_calls(image, &piece, function_starts_cpu(image, !is_arm), ret);
  }
  return rc;
}

int function_starts_find(const struct elf_image *image, const struct elf_image *debug,
                         struct function_starts *ret) {
  struct function_starts starts = {.starts = NULL};
  int rc = add_symbols(image, ".dynsym", &starts);
  if (rc == 0) rc = add_symbols(image, ".symtab", &starts);
  if (rc == 0 && debug != NULL) rc = add_symbols(debug, ".symtab", &starts);
  settle(&starts);
  *ret = starts;
  if (rc < 0) function_starts_fini(ret);
  return rc;
}

/* CPU: the instruction set; NULL: both of ARM's sets. */
static int add_all_calls(const struct elf_image *image, const struct instruction_cpu *cpu,
                         struct function_starts *starts) {
  struct elf_part part;
  uint64_t left = CODE_BYTES_MAX;
  int rc = 0;
  for (uint32_t cursor = 0; rc == 0 && elf_image_code_section(image, &cursor, &part);) {
    if (part.bytes.len > left) break;
    left -= part.bytes.len;
    rc = cpu != NULL ? add_calls(image, &part, cpu, starts) : add_mixed_calls(image, &part, starts);
  }
  settle(starts);
  return rc;
}

int function_starts_add_calls(const struct elf_image *image, struct function_starts *starts) {
  if (function_starts_cpu(image, false) == NULL) return 0;
  bool is_thumb = function_starts_is_thumb(image, starts);
  int rc = add_all_calls(image, function_starts_cpu(image, is_thumb), starts);
  if (rc == 0 && function_starts_is_mixed(starts)) rc = add_all_calls(image, NULL, starts);
  return rc;
}

void function_starts_fini(struct function_starts *starts) {
  free(starts->starts);
  *starts = (struct function_starts){.starts = NULL};
}

const struct function_start *function_starts_next(const struct function_starts *starts,
                                                  uint64_t address) {
  uint32_t first = 0, end = starts->count;
  while (first < end) {
    uint32_t middle = first + (end - first) / 2;
    if (starts->starts[middle].address < address)
      first = middle + 1;
    else
      end = middle;
  }
  return first < starts->count ? &starts->starts[first] : NULL;
}
