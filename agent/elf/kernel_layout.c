/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel is at another address after each boot (KASLR), so its addresses are meaningless on
   another board, or on this one tomorrow. The distance from the symbol _text (_stext if there is
   none) is shipped, which is a property of the build:

     shipped = address - _text          id = the GNU build-id in /sys/kernel/notes

   A loadable module is identified by its own build-id; the distance is from its .text. Code in
   neither (a BPF program, a trampoline) has no file and no name, and is plain [kernel].

   Addresses are visible to root, with CAP_SYSLOG, or to all users if kptr_restrict and
   perf_event_paranoid are low. Others see zeros.

   _text is at the head of /proc/kallsyms, _etext after a hundred thousand names (25 ms). For root,
   /proc/iomem gives the distance of the two much faster. */
#include "kernel_layout.h"
#include "common/elf_file.h"
#include "common/symbol_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1024, NOTES_BYTES = 4096 };

struct bounds {
  uint64_t text, first, end; /* _text, _stext, _etext */
};

static bool is_named(const struct symbol_line *line, const char *name) {
  return line->module.len == 0 && span_is_equal(line->name, span_of_string(name));
}

static void take_bound(const struct symbol_line *line, struct bounds *bounds) {
  if (is_named(line, "_text")) bounds->text = line->address;
  if (is_named(line, "_stext")) bounds->first = line->address;
  if (is_named(line, "_etext")) bounds->end = line->address;
}

static FILE *open_text(const char *root, const char *path) {
  char full[KERNEL_PATH_BYTES];
  if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full) return NULL;
  return fopen(full, "re");
}

/* The number of bytes from _stext to the end of the code, or 0 if unknown. If addresses are hidden,
   both ends of a range are 0. */
static uint64_t read_code_bytes(const char *root) {
  char text[LINE_BYTES];
  unsigned long long start, last;
  uint64_t bytes = 0;
  FILE *file = open_text(root, "/proc/iomem");
  if (file == NULL) return 0;
  while (bytes == 0 && fgets(text, sizeof text, file) != NULL)
    if (strstr(text, " : Kernel code\n") != NULL && sscanf(text, "%llx-%llx", &start, &last) == 2)
      bytes = last > start ? last - start + 1 : 0;
  fclose(file);
  return bytes;
}

static int read_bounds(const char *root, struct bounds *ret) {
  char text[LINE_BYTES];
  struct symbol_line line;
  uint64_t code_bytes = read_code_bytes(root);
  FILE *file = open_text(root, "/proc/kallsyms");
  if (file == NULL) return -ENOENT;
  while (ret->end == 0 && fgets(text, sizeof text, file) != NULL) {
    struct span rest = span_of_string(text);
    if (symbol_line_next(&rest, &line) == 0) take_bound(&line, ret);
    bool has_start = ret->text != 0 && ret->first != 0;
    if (has_start && code_bytes > 0) ret->end = ret->first + code_bytes;
  }
  fclose(file);
  if (ret->text == 0) ret->text = ret->first;
  return ret->text != 0 && ret->end > ret->text ? 0 : -EACCES;
}

/* The build-id in the notes at ROOT/PATH. */
static void read_id(const char *root, const char *path, struct kernel_piece *piece) {
  uint8_t notes[NOTES_BYTES];
  FILE *file = open_text(root, path);
  if (file == NULL) return;
  size_t len = fread(notes, 1, sizeof notes, file);
  fclose(file);
  struct span id =
      elf_notes_build_id(span_of(notes, len), 4, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
  if (id.len == 0 || id.len > sizeof piece->id) return;
  memcpy(piece->id, id.data, id.len);
  piece->id_bytes = (uint32_t)id.len;
}

static uint64_t read_address(const char *root, const char *path) {
  unsigned long long address = 0;
  FILE *file = open_text(root, path);
  if (file == NULL) return 0;
  if (fscanf(file, "%llx", &address) != 1) address = 0;
  fclose(file);
  return address;
}

/* A line of /proc/modules: name size users dependants state address. */
static bool read_module(const char *root, const char *line, struct kernel_piece *ret) {
  char name[KERNEL_NAME_BYTES - 2], path[KERNEL_PATH_BYTES];
  unsigned long long bytes, address;
  struct kernel_piece piece = {.id_bytes = 0};
  if (sscanf(line, "%61s %llu %*s %*s %*s %llx", name, &bytes, &address) != 3) return false;
  if (strchr(name, '/') != NULL || bytes == 0 || address == 0 || address + bytes < address)
    return false;
  snprintf(piece.name, sizeof piece.name, "[%s]", name);
  snprintf(path, sizeof path, "/sys/module/%s/sections/.text", name);
  piece.base = read_address(root, path);
  if (piece.base < address || piece.base >= address + bytes) return false;
  piece.start = address;
  piece.end = address + bytes;
  snprintf(path, sizeof path, "/sys/module/%s/notes/.note.gnu.build-id", name);
  read_id(root, path, &piece);
  *ret = piece;
  return piece.id_bytes > 0;
}

static int add_piece(struct kernel_layout *layout, const struct kernel_piece *piece) {
  struct kernel_piece *pieces =
      realloc(layout->pieces, (layout->count + 1) * sizeof *layout->pieces);
  if (pieces == NULL) return -ENOMEM;
  layout->pieces = pieces;
  layout->pieces[layout->count++] = *piece;
  return 0;
}

static void read_modules(const char *root, struct kernel_layout *layout) {
  char line[LINE_BYTES];
  struct kernel_piece piece;
  FILE *file = open_text(root, "/proc/modules"); /* absent in a kernel without loadable modules */
  if (file == NULL) return;
  while (layout->count < KERNEL_PIECES_MAX && fgets(line, sizeof line, file) != NULL)
    if (read_module(root, line, &piece) && add_piece(layout, &piece) < 0) break;
  fclose(file);
}

static int fail(struct kernel_layout *layout, int error, const char *why) {
  snprintf(layout->why, sizeof layout->why, "%s", why);
  return error;
}

int kernel_layout_read_id(const char *root, struct kernel_piece *ret) {
  *ret = (struct kernel_piece){.name = KERNEL_NAME};
  read_id(root, "/sys/kernel/notes", ret);
  return ret->id_bytes > 0 ? 0 : -ENOENT;
}

int kernel_layout_read(const char *root, struct kernel_layout *ret) {
  struct bounds bounds = {0};
  struct kernel_piece kernel;
  *ret = (struct kernel_layout){.count = 0};
  int error = read_bounds(root, &bounds);
  if (error == -ENOENT) return fail(ret, error, "there is no /proc/kallsyms (CONFIG_KALLSYMS)");
  if (error)
    return fail(ret, error,
                "the kernel hides its addresses from this user: give CAP_SYSLOG, or set "
                "kernel.kptr_restrict to 0");
  if (kernel_layout_read_id(root, &kernel) < 0)
    return fail(ret, -ENOENT, "the kernel has no build-id");
  kernel.base = bounds.text;
  kernel.start = bounds.text;
  kernel.end = bounds.end;
  error = add_piece(ret, &kernel);
  if (error) return fail(ret, error, "no memory");
  read_modules(root, ret);
  return 0;
}

void kernel_layout_fini(struct kernel_layout *layout) {
  free(layout->pieces);
  layout->pieces = NULL;
  layout->count = 0;
}

const struct kernel_piece *kernel_layout_find(const struct kernel_layout *layout,
                                              uint64_t address) {
  for (uint32_t i = 0; i < layout->count; i++)
    if (address >= layout->pieces[i].start && address < layout->pieces[i].end)
      return &layout->pieces[i];
  return NULL;
}
