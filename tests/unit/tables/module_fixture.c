/* SPDX-License-Identifier: Apache-2.0 */
/* Headers | code | header of .eh_frame, .eh_frame | .debug_frame | names | section headers. */
#include "module_fixture.h"

#include "frames_fixture.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <zlib.h>

#include <cmocka.h>

enum { HEADER_BYTES = 16, SEGMENTS = 4, SECTIONS = 4 };

static const char names[] = "\0.eh_frame\0.debug_frame\0.shstrtab";
enum { NAME_EH = 1, NAME_DEBUG = 11, NAME_NAMES = 24 };

struct place {
  uint32_t type;
  uint64_t flags, offset, address, bytes;
  uint32_t name;
};

static void append_segment(const struct module *module, struct place at, struct buf *ret) {
  Elf64_Phdr wide = {.p_type = at.type,
                     .p_flags = (uint32_t)at.flags,
                     .p_offset = at.offset,
                     .p_vaddr = at.address,
                     .p_filesz = at.bytes};
  Elf32_Phdr narrow = {.p_type = at.type,
                       .p_flags = (uint32_t)at.flags,
                       .p_offset = (uint32_t)at.offset,
                       .p_vaddr = (uint32_t)at.address,
                       .p_filesz = (uint32_t)at.bytes};
  if (module->is_narrow)
    buf_append(ret, &narrow, sizeof narrow);
  else
    buf_append(ret, &wide, sizeof wide);
}

static void append_section(const struct module *module, struct place at, struct buf *ret) {
  Elf64_Shdr wide = {.sh_name = at.name,
                     .sh_type = at.type,
                     .sh_flags = at.flags,
                     .sh_addr = at.address,
                     .sh_offset = at.offset,
                     .sh_size = at.bytes};
  Elf32_Shdr narrow = {.sh_name = at.name,
                       .sh_type = at.type,
                       .sh_flags = (uint32_t)at.flags,
                       .sh_addr = (uint32_t)at.address,
                       .sh_offset = (uint32_t)at.offset,
                       .sh_size = (uint32_t)at.bytes};
  if (module->is_narrow)
    buf_append(ret, &narrow, sizeof narrow);
  else
    buf_append(ret, &wide, sizeof wide);
}

static void write_head(const struct module *module, uint64_t sections_at, struct buf *ret) {
  uint16_t sections = module->has_no_sections ? 0 : SECTIONS;
  Elf64_Ehdr wide = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                     .e_type = module->is_fixed ? ET_EXEC : ET_DYN,
                     .e_machine = module->machine,
                     .e_entry = module->entry,
                     .e_phoff = sizeof wide,
                     .e_phentsize = sizeof(Elf64_Phdr),
                     .e_phnum = SEGMENTS,
                     .e_shoff = sections_at,
                     .e_shentsize = sizeof(Elf64_Shdr),
                     .e_shnum = sections,
                     .e_shstrndx = SECTIONS - 1};
  Elf32_Ehdr narrow = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
                       .e_type = module->is_fixed ? ET_EXEC : ET_DYN,
                       .e_machine = module->machine,
                       .e_entry = (uint32_t)module->entry,
                       .e_phoff = sizeof narrow,
                       .e_phentsize = sizeof(Elf32_Phdr),
                       .e_phnum = SEGMENTS,
                       .e_shoff = (uint32_t)sections_at,
                       .e_shentsize = sizeof(Elf32_Shdr),
                       .e_shnum = sections,
                       .e_shstrndx = SECTIONS - 1};
  if (module->is_narrow)
    memcpy(ret->data, &narrow, sizeof narrow);
  else
    memcpy(ret->data, &wide, sizeof wide);
}

static void append_zeros(struct buf *ret, size_t until) {
  while (ret->len < until) buf_append_byte(ret, 0);
}

static void append_deflated(const struct module *module, struct buf *ret) {
  struct span raw = module->debug_frame;
  uint64_t says = module->inflated_bytes != 0 ? module->inflated_bytes : raw.len;
  uint32_t kind = module->deflate_kind != 0 ? module->deflate_kind : ELFCOMPRESS_ZLIB;
  Elf64_Chdr wide = {.ch_type = kind, .ch_size = says};
  Elf32_Chdr narrow = {.ch_type = kind, .ch_size = (uint32_t)says};
  uLongf len = compressBound(raw.len);
  if (module->is_narrow)
    buf_append(ret, &narrow, sizeof narrow);
  else
    buf_append(ret, &wide, sizeof wide);
  uint8_t *to = buf_reserve(ret, len);
  assert_non_null(to);
  assert_int_equal(compress(to, &len, raw.data, raw.len), Z_OK);
  ret->len += len;
}

static void append_segments(const struct module *module, struct buf *ret) {
  struct place code = {PT_LOAD, PF_R | PF_X, MODULE_CODE, MODULE_CODE, MODULE_CODE_BYTES, 0};
  struct place frames = {.type = PT_LOAD, .flags = PF_R, .offset = MODULE_CODE + MODULE_CODE_BYTES};
  frames.address = SECTION_AT - HEADER_BYTES;
  frames.bytes = HEADER_BYTES + module->eh_frame.len;
  struct place header = frames;
  header.type = module->has_no_header ? PT_NULL : PT_GNU_EH_FRAME;
  header.bytes = HEADER_BYTES;
  append_segment(module, header, ret);
  append_segment(module, code, ret);
  append_segment(module, frames, ret);
  header.type = module->has_interpreter ? PT_INTERP : PT_NULL;
  append_segment(module, header, ret);
}

void module_write(const struct module *module, struct buf *ret) {
  static const uint8_t header[HEADER_BYTES] = {1, FRAMES_HERE_S4, 0xff, 0xff, HEADER_BYTES - 4};
  append_zeros(ret, module->is_narrow ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr));
  append_segments(module, ret);
  append_zeros(ret, MODULE_CODE + MODULE_CODE_BYTES);
  buf_append(ret, header, sizeof header);
  struct place frames = {SHT_PROGBITS, 0, ret->len, SECTION_AT, module->eh_frame.len, NAME_EH};
  if (module->eh_section_bytes != 0) frames.bytes = module->eh_section_bytes;
  buf_append(ret, module->eh_frame.data, module->eh_frame.len);
  struct place debug = {.type = SHT_PROGBITS, .offset = ret->len, .name = NAME_DEBUG};
  if (module->is_deflated) {
    debug.flags = SHF_COMPRESSED;
    append_deflated(module, ret);
  } else {
    buf_append(ret, module->debug_frame.data, module->debug_frame.len);
  }
  debug.bytes = ret->len - debug.offset;
  struct place text = {SHT_STRTAB, 0, ret->len, 0, sizeof names, NAME_NAMES};
  buf_append(ret, names, sizeof names);
  write_head(module, ret->len, ret);
  append_section(module, (struct place){0}, ret);
  append_section(module, frames, ret);
  append_section(module, debug, ret);
  append_section(module, text, ret);
}
