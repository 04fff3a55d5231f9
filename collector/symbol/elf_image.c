/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of ELF files in memory, by libelf.

   Everything is found through section headers. A file made by `objcopy --only-keep-debug` keeps the
   program headers of the original, whose offsets then point at nothing. Program headers are read
   only for the build-id of a file without sections.

   Functions are FUNC and IFUNC symbols in executable sections, and untyped symbols there (assembler
   functions). Mapping symbols ($a $t $d $x) and local labels (.L) are excluded. They come from
   .symtab and .dynsym; a symbol in both tables counts once, as aliases do. A version after '@' is
   cut off. ARM and MIPS keep the instruction set in bit 0 of a function's address: it is cleared.
   Each PLT section gets a symbol, and each of its stubs a symbol named after its target. Functions
   without a symbol are taken from .eh_frame, as bounds without a name; a malformed .eh_frame ends
   there and does not reject the file.

   A kernel module is an object file: its sections get addresses at load time. Boards report its
   addresses relative to its .text, so only the code of that section is read.

   Debug information without a code section is a supplement: the common file of `dwz -m`
   (.gnu_debugaltlink), a .dwo file, or a .dwp file.

   Compressed sections are never unpacked here. No linker compresses symbol tables, and a
   decompression bomb cannot harm a reader that does not unpack. DWARF is not read, and
   .gnu_debugdata is only located. */
#include "elf_image.h"

#include "eh_frame.h"
#include "plt_names.h"
#include "symbol_set.h"

#include <errno.h>
#include <gelf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct code_section {
  uint64_t start, end; /* both 0: not an executable section */
};

struct reader {
  struct span image;
  Elf *elf;
  GElf_Ehdr header;
  size_t section_count;
  struct code_section *code; /* by section number */
  Elf_Scn *symtab, *dynsym, *eh_frame;
  bool is_object, is_kernel_module, has_code, has_debug_section;
  struct symbol_set *set;
  struct elf_image *result;
  char *why;
  size_t why_len;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reader *reader, const char *format,
                                                        ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->why, reader->why_len, format, arguments);
  va_end(arguments);
  return -EBADMSG;
}

static int refuse_by_libelf(struct reader *reader, const char *what) {
  return refuse(reader, "%s: %s", what, elf_errmsg(-1));
}

/* Reads the notes of one section or segment. */
static void read_notes(struct reader *reader, Elf_Data *notes) {
  GElf_Nhdr note;
  size_t at = 0, name_at, desc_at;
  while ((at = gelf_getnote(notes, at, &note, &name_at, &desc_at)) > 0) {
    const char *bytes = notes->d_buf;
    if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU) continue;
    if (memcmp(bytes + name_at, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0) continue;
    if (note.n_descsz == 0 || note.n_descsz > sizeof reader->result->build_id) continue;
    memcpy(reader->result->build_id, bytes + desc_at, note.n_descsz);
    reader->result->build_id_len = note.n_descsz;
    return;
  }
}

static void read_note_section(struct reader *reader, Elf_Scn *section) {
  if (reader->result->build_id_len > 0) return;
  Elf_Data *notes = elf_getdata(section, NULL);
  if (notes != NULL && notes->d_buf != NULL) read_notes(reader, notes);
}

static void read_note_segments(struct reader *reader) {
  size_t count;
  if (elf_getphdrnum(reader->elf, &count) != 0) return;
  for (size_t i = 0; i < count && reader->result->build_id_len == 0; i++) {
    GElf_Phdr segment;
    if (gelf_getphdr(reader->elf, (int)i, &segment) == NULL) return;
    if (segment.p_type != PT_NOTE) continue;
    Elf_Data *notes =
        elf_getdata_rawchunk(reader->elf, (int64_t)segment.p_offset, (size_t)segment.p_filesz,
                             segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
    if (notes != NULL && notes->d_buf != NULL) read_notes(reader, notes);
  }
}

static int read_code_section(struct reader *reader, const GElf_Shdr *section, size_t number,
                             const char *name) {
  static const char plt_name[] = "[plt]";
  uint64_t end = section->sh_addr + section->sh_size;
  if (end < section->sh_addr) return refuse(reader, "section %zu wraps around the end", number);
  reader->code[number] = (struct code_section){section->sh_addr, end};
  if (!plt_names_is_table(name)) return 0;
  return symbol_set_add(reader->set, &(struct candidate){
                                         .start = section->sh_addr,
                                         .size = section->sh_size,
                                         .limit = end,
                                         .name = span_of(plt_name, sizeof plt_name - 1),
                                         .rank = SYMBOL_SECTION,
                                     });
}

/* The section holds the other file's name, then its build-id. */
static void note_alternate(struct reader *reader, Elf_Scn *section) {
  Elf_Data *link = elf_rawdata(section, NULL);
  if (link == NULL || link->d_buf == NULL) return;
  const char *name = link->d_buf;
  size_t name_bytes = strnlen(name, link->d_size) + 1;
  if (name_bytes >= link->d_size || link->d_size - name_bytes > LIMIT_MODULE_ID_BYTES) return;
  reader->result->alternate_id_len = (uint32_t)(link->d_size - name_bytes);
  memcpy(reader->result->alternate_id, name + name_bytes, link->d_size - name_bytes);
}

static void note_packed(struct reader *reader, const GElf_Shdr *section) {
  if ((section->sh_flags & SHF_COMPRESSED) != 0 || section->sh_offset > reader->image.len) return;
  if (section->sh_size > reader->image.len - section->sh_offset) return;
  reader->result->packed =
      span_of(reader->image.data + section->sh_offset, (size_t)section->sh_size);
}

static int read_section(struct reader *reader, Elf_Scn *scn, size_t name_table) {
  GElf_Shdr section;
  size_t number = elf_ndxscn(scn);
  if (gelf_getshdr(scn, &section) == NULL) return refuse_by_libelf(reader, "section header");
  if (number >= reader->section_count) return refuse(reader, "more sections than it counts");
  const char *name = elf_strptr(reader->elf, name_table, section.sh_name);
  if (name == NULL) name = "";
  bool has_bytes = section.sh_type != SHT_NOBITS && section.sh_size > 0;
  if (section.sh_type == SHT_SYMTAB && has_bytes) reader->symtab = scn;
  if (section.sh_type == SHT_DYNSYM && has_bytes) reader->dynsym = scn;
  if (strcmp(name, ".modinfo") == 0) reader->is_kernel_module = true;
  if (section.sh_type == SHT_NOTE) read_note_section(reader, scn);
  const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
  bool is_code = (section.sh_flags & code) == code;
  reader->has_code |= is_code;
  if (has_bytes && strncmp(name, ".debug_", 7) == 0) reader->has_debug_section = true;
  if (has_bytes && (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
    reader->result->has_dwarf = true;
  if (reader->is_object) /* other sections have no addresses before they are loaded */
    return is_code && strcmp(name, ".text") == 0 ? read_code_section(reader, &section, number, name)
                                                 : 0;
  if (has_bytes && strcmp(name, ".eh_frame") == 0) reader->eh_frame = scn;
  if (has_bytes && strcmp(name, ".gnu_debugaltlink") == 0) note_alternate(reader, scn);
  if (has_bytes && strcmp(name, ".gnu_debugdata") == 0) note_packed(reader, &section);
  if (!is_code) return 0;
  return read_code_section(reader, &section, number, name);
}

static int read_sections(struct reader *reader) {
  size_t name_table;
  if (elf_getshdrnum(reader->elf, &reader->section_count) != 0)
    return refuse_by_libelf(reader, "section headers");
  if (reader->section_count == 0 && reader->header.e_shoff != 0)
    return refuse(reader, "section headers are not within the file");
  if (reader->section_count == 0) return 0;
  if (elf_getshdrstrndx(reader->elf, &name_table) != 0)
    return refuse_by_libelf(reader, "section names");
  reader->code = calloc(reader->section_count, sizeof *reader->code);
  if (reader->code == NULL) return -ENOMEM;
  Elf_Scn *scn = NULL;
  size_t seen = 1; /* section 0 is reserved */
  for (; (scn = elf_nextscn(reader->elf, scn)) != NULL; seen++) {
    int error = read_section(reader, scn, name_table);
    if (error != 0) return error;
  }
  return seen == reader->section_count ? 0 : refuse(reader, "section headers cannot be read");
}

/* A symbol table with the sections that its entries refer to. */
struct table_view {
  const char *name;
  Elf_Data *entries, *numbers; /* numbers: section numbers over 65279, or NULL */
  struct span strings;
  uint32_t count;
};

static Elf_Data *section_bytes(struct reader *reader, size_t number, uint32_t type) {
  GElf_Shdr section;
  Elf_Scn *scn = elf_getscn(reader->elf, number);
  if (scn == NULL || gelf_getshdr(scn, &section) == NULL) return NULL;
  if (section.sh_type != type || (section.sh_flags & SHF_COMPRESSED) != 0) return NULL;
  Elf_Data *bytes = elf_getdata(scn, NULL);
  return bytes == NULL || bytes->d_buf == NULL || bytes->d_size == 0 ? NULL : bytes;
}

/* Returns the SHT_SYMTAB_SHNDX section of symbol table NUMBER, or NULL. */
static Elf_Data *long_numbers(struct reader *reader, size_t number) {
  Elf_Scn *scn = NULL;
  while ((scn = elf_nextscn(reader->elf, scn)) != NULL) {
    GElf_Shdr section;
    if (gelf_getshdr(scn, &section) == NULL || section.sh_type != SHT_SYMTAB_SHNDX) continue;
    if (section.sh_link == number) return section_bytes(reader, elf_ndxscn(scn), SHT_SYMTAB_SHNDX);
  }
  return NULL;
}

/* Finds string table NUMBER in the image itself, since names outlive libelf's view of it. */
static int cut_strings(struct reader *reader, size_t number, struct span *ret) {
  GElf_Shdr section;
  Elf_Scn *scn = elf_getscn(reader->elf, number);
  if (scn == NULL || gelf_getshdr(scn, &section) == NULL) return -EBADMSG;
  if (section.sh_type != SHT_STRTAB || (section.sh_flags & SHF_COMPRESSED) != 0) return -EBADMSG;
  if (section.sh_offset > reader->image.len) return -EBADMSG;
  if (section.sh_size > reader->image.len - section.sh_offset) return -EBADMSG;
  *ret = span_of(reader->image.data + section.sh_offset, (size_t)section.sh_size);
  return 0;
}

static int view_table(struct reader *reader, Elf_Scn *scn, struct table_view *view) {
  GElf_Shdr section;
  if (gelf_getshdr(scn, &section) == NULL) return refuse_by_libelf(reader, view->name);
  if ((section.sh_flags & SHF_COMPRESSED) != 0)
    return refuse(reader, "%s is compressed", view->name);
  view->entries = section_bytes(reader, elf_ndxscn(scn), section.sh_type);
  if (view->entries == NULL)
    return refuse(reader,
                  "%s (section %zu, %llu bytes at %llu) is not within the file of %zu bytes",
                  view->name, elf_ndxscn(scn), (unsigned long long)section.sh_size,
                  (unsigned long long)section.sh_offset, reader->image.len);
  if (cut_strings(reader, section.sh_link, &view->strings) != 0)
    return refuse(reader, "%s has no string table: section %u is none", view->name,
                  section.sh_link);
  view->numbers = long_numbers(reader, elf_ndxscn(scn));
  size_t entry_bytes = gelf_fsize(reader->elf, ELF_T_SYM, 1, EV_CURRENT);
  if (entry_bytes == 0 || section.sh_entsize != entry_bytes)
    return refuse(reader, "%s has entries of %llu bytes, not %zu", view->name,
                  (unsigned long long)section.sh_entsize, entry_bytes);
  size_t count = view->entries->d_size / entry_bytes;
  if (count > INT32_MAX) return refuse(reader, "%s has %zu entries", view->name, count);
  view->count = (uint32_t)count;
  return 0;
}

/* Returns the name at OFFSET without its symbol version; empty if OFFSET is outside. */
static struct span name_at(const struct table_view *view, uint64_t offset) {
  if (offset >= view->strings.len) return span_of("", 0);
  const char *name = (const char *)view->strings.data + offset;
  size_t room = view->strings.len - (size_t)offset;
  if (room > INDEX_NAME_BYTES_MAX + 1) room = INDEX_NAME_BYTES_MAX + 1; /* one more: shows a cut */
  size_t len = strnlen(name, room);
  const char *version = len > 0 ? memchr(name + 1, '@', len - 1) : NULL;
  if (version != NULL) len = (size_t)(version - name);
  return span_of(name, len);
}

/* Whether NAME is a mark for assemblers and linkers, not a name of code. */
static bool is_mark(struct span name) {
  if (name.len == 0) return true;
  if (name.len >= 2 && name.data[0] == '.' && name.data[1] == 'L') return true;
  if (name.len < 2 || name.data[0] != '$') return false;
  bool is_alone = name.len == 2 || name.data[2] == '.' || name.data[1] == 'x';
  return is_alone && memchr("atdx", name.data[1], 4) != NULL;
}

static enum symbol_rank rank_of(const GElf_Sym *symbol) {
  if (GELF_ST_TYPE(symbol->st_info) == STT_NOTYPE) return SYMBOL_LABEL;
  switch (GELF_ST_BIND(symbol->st_info)) {
  case STB_LOCAL:
    return SYMBOL_LOCAL;
  case STB_WEAK:
    return SYMBOL_WEAK;
  default:
    return SYMBOL_GLOBAL;
  }
}

static uint64_t code_address(const struct reader *reader, const GElf_Sym *symbol) {
  bool has_mode_bit = reader->header.e_machine == EM_ARM || reader->header.e_machine == EM_MIPS;
  return has_mode_bit ? symbol->st_value & ~1ULL : symbol->st_value;
}

static bool is_code_type(const GElf_Sym *symbol) {
  unsigned type = GELF_ST_TYPE(symbol->st_info);
  return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static int read_symbol(struct reader *reader, const struct table_view *view, uint32_t number) {
  GElf_Sym symbol;
  Elf32_Word long_number = 0;
  if (gelf_getsymshndx(view->entries, view->numbers, (int)number, &symbol, &long_number) == NULL)
    return refuse_by_libelf(reader, view->name);
  if (!is_code_type(&symbol)) return 0;
  size_t section = symbol.st_shndx == SHN_XINDEX ? long_number : symbol.st_shndx;
  if (symbol.st_shndx != SHN_XINDEX && section >= SHN_LORESERVE) return 0;
  if (section >= reader->section_count || reader->code[section].end == 0) return 0;
  struct candidate candidate = {
      .start = code_address(reader, &symbol),
      .size = symbol.st_size,
      .limit = reader->code[section].end,
      .name = name_at(view, symbol.st_name),
      .rank = rank_of(&symbol),
      .is_indirect = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC,
  };
  if (is_mark(candidate.name) || candidate.start >= candidate.limit) return 0;
  int error = symbol_set_add(reader->set, &candidate);
  if (error == 0) reader->result->function_count++;
  return error;
}

static int read_table(struct reader *reader, Elf_Scn *scn, const char *name) {
  struct table_view view = {.name = name};
  int error = view_table(reader, scn, &view);
  for (uint32_t i = 1; error == 0 && i < view.count; i++) error = read_symbol(reader, &view, i);
  if (error == -EOVERFLOW)
    refuse(reader, "%s has more than %d functions (INDEX_SYMBOLS_MAX)", name, INDEX_SYMBOLS_MAX);
  return error;
}

static int read_functions(struct reader *reader) {
  struct elf_image *result = reader->result;
  int error = 0;
  if (reader->symtab != NULL) error = read_table(reader, reader->symtab, ".symtab");
  uint32_t told = result->function_count;
  if (error == 0 && reader->dynsym != NULL) error = read_table(reader, reader->dynsym, ".dynsym");
  /* A complete .symtab has all functions of .dynsym and more. If it has fewer, most of it was
     stripped. */
  result->has_symtab = told > 0 && told >= result->function_count - told;
  return error;
}

/* Returns the executable section that contains ADDRESS, or NULL. HINT: index of the last result;
   functions of a section stand together. */
static const struct code_section *find_code(const struct reader *reader, uint64_t address,
                                            size_t *hint) {
  for (size_t i = 0; i < reader->section_count; i++) {
    size_t at = (*hint + i) % reader->section_count;
    if (address < reader->code[at].start || address >= reader->code[at].end) continue;
    *hint = at;
    return &reader->code[at];
  }
  return NULL;
}

/* Adds the bounds from .eh_frame, as many as there is room for. */
static int read_bounds(struct reader *reader) {
  GElf_Shdr section;
  Elf_Data *bytes = elf_rawdata(reader->eh_frame, NULL);
  if (bytes == NULL || bytes->d_buf == NULL) return 0;
  if (gelf_getshdr(reader->eh_frame, &section) == NULL) return 0;
  if ((section.sh_flags & SHF_COMPRESSED) != 0) return 0;
  struct eh_frame frames = {
      .bytes = span_of(bytes->d_buf, bytes->d_size),
      .address = section.sh_addr,
      .word_bytes = reader->header.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8,
      .is_big_endian = reader->header.e_ident[EI_DATA] == ELFDATA2MSB,
  };
  struct eh_frame_range range;
  size_t hint = 0;
  int error = 0;
  while (error == 0 && eh_frame_next(&frames, &range)) {
    const struct code_section *code = find_code(reader, range.start, &hint);
    if (code == NULL) continue;
    error = symbol_set_add(reader->set, &(struct candidate){.start = range.start,
                                                            .size = range.size,
                                                            .limit = code->end,
                                                            .name = span_of("", 0),
                                                            .rank = SYMBOL_BOUNDS});
    if (error == 0) reader->result->bounds_count++;
  }
  return error == -EOVERFLOW ? 0 : error;
}

static int check_header(struct reader *reader) {
  if (elf_kind(reader->elf) != ELF_K_ELF) return refuse(reader, "not an ELF file");
  if (gelf_getehdr(reader->elf, &reader->header) == NULL)
    return refuse_by_libelf(reader, "ELF header");
  reader->is_object = reader->header.e_type == ET_REL;
  if (!reader->is_object && reader->header.e_type != ET_EXEC && reader->header.e_type != ET_DYN)
    return refuse(reader, "ELF type %u is neither a program nor a shared library",
                  reader->header.e_type);
  return 0;
}

static int read_all(struct reader *reader) {
  int error = check_header(reader);
  if (error == 0) error = read_sections(reader);
  if (error != 0) return error;
  reader->result->is_supplement = reader->has_debug_section && !reader->has_code;
  if (reader->result->is_supplement) return 0;
  if (reader->is_object && !reader->is_kernel_module)
    return refuse(reader, "an object file, and no kernel module");
  if (reader->result->build_id_len == 0) read_note_segments(reader);
  error = read_functions(reader);
  if (error == 0) error = plt_names_add(reader->elf, reader->set);
  return error == 0 && reader->eh_frame != NULL ? read_bounds(reader) : error;
}

int elf_image_read(struct span image, struct symbol_set *set, struct elf_image *ret, char *why,
                   size_t why_len) {
  struct elf_image result = {0};
  struct reader reader = {
      .image = image, .set = set, .result = &result, .why = why, .why_len = why_len};
  if (elf_version(EV_CURRENT) == EV_NONE) return refuse_by_libelf(&reader, "libelf");
  /* libelf writes only when it unpacks or changes a section, which this reader never does. */
  reader.elf = elf_memory((char *)(uintptr_t)image.data, image.len);
  if (reader.elf == NULL) return refuse_by_libelf(&reader, "ELF file");
  int error = read_all(&reader);
  elf_end(reader.elf);
  free(reader.code);
  if (error == 0) *ret = result;
  return error;
}
