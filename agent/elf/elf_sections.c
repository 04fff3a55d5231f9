/* SPDX-License-Identifier: Apache-2.0 */
/* Like elf_notes.c, for a stranger's file: pread through a callback into small buffers, no
   allocation, limits on every count.  32- and 64-bit headers are read into one struct.

   Of a section only what is asked for is read: its name's first bytes, a note's head, a link's
   name, symbols until the first function.  Nothing here depends on the file not changing while it
   is read; what is decided here is verified again by the hash that travels with the file. */
#include "elf_sections.h"

#include <elf.h>
#include <errno.h>

enum {
  SECTIONS_MAX =
      16384, /* -ffunction-sections multiplies them in objects, which may hold .dwo sections */
  NOTE_BYTES_MAX = 1024,
  NAME_BYTES = 24, /* longer than any name that we look for */
  SYMBOLS_A_READ = 64,
  SYMBOLS_LOOKED_AT = 1 << 16,
};

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_NATIVE_ORDER ELFDATA2LSB
#else
#define ELF_NATIVE_ORDER ELFDATA2MSB
#endif

struct source {
  elf_read *read;
  void *context;
  uint64_t table_offset, names_offset;
  uint32_t entry_bytes, count, names_index;
  bool is_64;
};

struct section {
  uint32_t name, type;
  uint64_t offset, bytes;
};

static int read_head(struct source *source) {
  uint8_t ident[EI_NIDENT];
  if (!source->read(source->context, 0, ident, sizeof ident)) return -EBADMSG;
  if (memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != ELF_NATIVE_ORDER) return -EBADMSG;
  if (ident[EI_CLASS] == ELFCLASS64) {
    Elf64_Ehdr head;
    if (!source->read(source->context, 0, &head, sizeof head)) return -EBADMSG;
    source->is_64 = true;
    source->table_offset = head.e_shoff;
    source->entry_bytes = head.e_shentsize;
    source->count = head.e_shnum;
    source->names_index = head.e_shstrndx;
  } else if (ident[EI_CLASS] == ELFCLASS32) {
    Elf32_Ehdr head;
    if (!source->read(source->context, 0, &head, sizeof head)) return -EBADMSG;
    source->table_offset = head.e_shoff;
    source->entry_bytes = head.e_shentsize;
    source->count = head.e_shnum;
    source->names_index = head.e_shstrndx;
  } else {
    return -EBADMSG;
  }
  size_t expected = source->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  if (source->count > 0 && source->entry_bytes != expected) return -EBADMSG;
  return source->count <= SECTIONS_MAX ? 0 : -EOVERFLOW;
}

static bool read_section(const struct source *source, uint32_t index, struct section *ret) {
  uint64_t at = source->table_offset + (uint64_t)index * source->entry_bytes;
  if (at < source->table_offset) return false;
  if (source->is_64) {
    Elf64_Shdr header;
    if (!source->read(source->context, at, &header, sizeof header)) return false;
    *ret = (struct section){header.sh_name, header.sh_type, header.sh_offset, header.sh_size};
  } else {
    Elf32_Shdr header;
    if (!source->read(source->context, at, &header, sizeof header)) return false;
    *ret = (struct section){header.sh_name, header.sh_type, header.sh_offset, header.sh_size};
  }
  return true;
}

/* True when SECTION's name is NAME: that many bytes and the NUL are read, no more. */
static bool is_named(const struct source *source, const struct section *section, const char *name) {
  char text[NAME_BYTES];
  size_t len = strlen(name) + 1;
  return len <= sizeof text &&
         source->read(source->context, source->names_offset + section->name, text, len) &&
         memcmp(text, name, len) == 0;
}

/* Walks NOTES (name size, descriptor size, type, both padded to 4).  Returns the build-id, or an
   empty span. */
static struct span find_build_id(struct span notes) {
  Elf64_Nhdr head; /* the same three words in both classes */
  struct span part, name, id;
  while (span_take(&notes, sizeof head, &part)) {
    memcpy(&head, part.data, sizeof head);
    if (head.n_namesz > notes.len || head.n_descsz > notes.len) break;
    if (!span_take(&notes, (head.n_namesz + 3U) & ~3U, &name)) break;
    bool is_id =
        head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && memcmp(name.data, "GNU", 4) == 0;
    if (is_id && head.n_descsz <= notes.len) return span_of(notes.data, head.n_descsz);
    if (!span_take(&notes, (head.n_descsz + 3U) & ~3U, &id)) break;
  }
  return (struct span){0};
}

static void read_note(const struct source *source, const struct section *section,
                      struct elf_sections *ret) {
  uint8_t bytes[NOTE_BYTES_MAX];
  size_t len = section->bytes < sizeof bytes ? (size_t)section->bytes : sizeof bytes;
  if (ret->build_id_bytes > 0 || !source->read(source->context, section->offset, bytes, len))
    return;
  struct span id = find_build_id(span_of(bytes, len));
  if (id.len == 0 || id.len > sizeof ret->build_id) return;
  memcpy(ret->build_id, id.data, id.len);
  ret->build_id_bytes = (uint32_t)id.len;
}

static void read_debuglink(const struct source *source, const struct section *section,
                           struct elf_sections *ret) {
  char name[ELF_DEBUGLINK_BYTES] = "";
  size_t len = section->bytes < sizeof name ? (size_t)section->bytes : sizeof name;
  if (!source->read(source->context, section->offset, name, len)) return;
  if (memchr(name, '\0', len) != NULL) memcpy(ret->debuglink, name, sizeof name);
}

/* A name, and behind it the build-id of the file that is called so. */
static void read_alternate(const struct source *source, const struct section *section,
                           struct elf_sections *ret) {
  uint8_t bytes[ELF_DEBUGLINK_BYTES + LIMIT_MODULE_ID_BYTES];
  if (section->bytes > sizeof bytes) return;
  size_t len = (size_t)section->bytes;
  if (!source->read(source->context, section->offset, bytes, len)) return;
  const uint8_t *end = memchr(bytes, '\0', len < ELF_DEBUGLINK_BYTES ? len : ELF_DEBUGLINK_BYTES);
  size_t name_bytes = end != NULL ? (size_t)(end - bytes) + 1 : 0;
  if (name_bytes <= 1 || name_bytes == len || len - name_bytes > sizeof ret->alternate_id) return;
  memcpy(ret->alternate, bytes, name_bytes);
  ret->alternate_id_bytes = (uint32_t)(len - name_bytes);
  memcpy(ret->alternate_id, bytes + name_bytes, len - name_bytes);
}

static bool is_function(const struct source *source, const uint8_t *symbol) {
  if (source->is_64) {
    Elf64_Sym entry;
    memcpy(&entry, symbol, sizeof entry);
    return ELF64_ST_TYPE(entry.st_info) == STT_FUNC && entry.st_shndx != SHN_UNDEF;
  }
  Elf32_Sym entry;
  memcpy(&entry, symbol, sizeof entry);
  return ELF32_ST_TYPE(entry.st_info) == STT_FUNC && entry.st_shndx != SHN_UNDEF;
}

static bool has_functions(const struct source *source, const struct section *section) {
  uint8_t piece[SYMBOLS_A_READ * sizeof(Elf64_Sym)];
  size_t size = source->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  uint64_t count = section->bytes / size;
  if (count > SYMBOLS_LOOKED_AT) count = SYMBOLS_LOOKED_AT;
  for (uint64_t first = 0; first < count; first += SYMBOLS_A_READ) {
    uint64_t some = count - first < SYMBOLS_A_READ ? count - first : SYMBOLS_A_READ;
    if (!source->read(source->context, section->offset + first * size, piece, (size_t)some * size))
      return false;
    for (uint64_t i = 0; i < some; i++)
      if (is_function(source, piece + i * size)) return true;
  }
  return false;
}

/* The sections that are found by their names. */
static void look_at_name(const struct source *source, const struct section *section,
                         struct elf_sections *ret) {
  if (is_named(source, section, ".gnu_debuglink"))
    read_debuglink(source, section, ret);
  else if (is_named(source, section, ".gnu_debugaltlink"))
    read_alternate(source, section, ret);
  else if (is_named(source, section, ".debug_info") || is_named(source, section, ".zdebug_info"))
    ret->has_dwarf = true;
  else if (is_named(source, section, ".debug_info.dwo") ||
           is_named(source, section, ".zdebug_info.dwo"))
    ret->is_split = true;
}

static void look_at(const struct source *source, const struct section *section,
                    struct elf_sections *ret) {
  if (section->bytes == 0) return;
  if (section->type == SHT_NOTE)
    read_note(source, section, ret);
  else if (section->type == SHT_SYMTAB && !ret->has_functions)
    ret->has_functions = has_functions(source, section);
  else if (section->type == SHT_PROGBITS)
    look_at_name(source, section, ret);
}

int elf_sections_read(elf_read *read, void *context, struct elf_sections *ret) {
  struct source source = {.read = read, .context = context};
  struct elf_sections found = {.build_id_bytes = 0};
  struct section section;
  int rc = read_head(&source);
  if (rc < 0) return rc;
  if (source.names_index < source.count && read_section(&source, source.names_index, &section))
    source.names_offset = section.offset;
  for (uint32_t i = 1; i < source.count; i++)
    if (read_section(&source, i, &section)) look_at(&source, &section, &found);
  *ret = found;
  return 0;
}
