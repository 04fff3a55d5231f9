/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's functions are in /proc/kallsyms. If it hides the addresses, /boot/System.map of the
   same release has them from the build. Both are converted to the base of shipped frames. So
   neither names nor samples reveal the kernel's address in this boot: KASLR's secret stays on the
   board.

   The list is made on demand and kept in anonymous memory, some 3 MB for a common kernel, until it
   has been sent. */
#include "kernel_symbols.h"
#include "kernel_layout.h"

#include "common/hex_text.h"
#include "common/symbol_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static bool is_piece(const struct kernel_piece *piece, const struct debug_module *module) {
  return strcmp(piece->name, module->path) == 0 &&
         span_is_equal(span_of(piece->id, piece->id_bytes), module->id);
}

static const struct kernel_piece *find_in(const struct kernel_layout *layout,
                                          const struct debug_module *module) {
  for (uint32_t i = 0; i < layout->count; i++)
    if (is_piece(&layout->pieces[i], module)) return &layout->pieces[i];
  return NULL;
}

static bool is_of(const struct symbol_line *line, const struct kernel_piece *piece) {
  size_t len = strlen(piece->name);
  if (strcmp(piece->name, KERNEL_NAME) == 0) return line->module.len == 0;
  return span_is_equal(line->module, span_of(piece->name + 1, len - 2));
}

static void write_head(const struct kernel_piece *piece, FILE *out) {
  char id[2 * LIMIT_MODULE_ID_BYTES + 1];
  hex_text_print(span_of(piece->id, piece->id_bytes), id, sizeof id);
  fprintf(out, "# build-id %s\n", id);
}

/* Copies the functions of PIECE from IN to OUT. Returns their number. */
static unsigned copy_functions(FILE *in, const struct kernel_piece *piece, FILE *out) {
  char text[LINE_BYTES];
  struct symbol_line line;
  unsigned count = 0;
  while (fgets(text, sizeof text, in) != NULL) {
    struct span rest = span_of_string(text);
    if (symbol_line_next(&rest, &line) < 0 || !symbol_line_is_code(&line)) continue;
    if (!is_of(&line, piece) || line.address < piece->base) continue;
    fprintf(out, "%016llx %c %.*s\n", (unsigned long long)(line.address - piece->base), line.type,
            (int)line.name.len, (const char *)line.name.data);
    count++;
  }
  return count;
}

/* Finds the base in the build's list, for a kernel with hidden addresses: its _text. */
static bool find_base(FILE *map, uint64_t *ret) {
  char text[LINE_BYTES];
  struct symbol_line line;
  bool is_found = false;
  while (!is_found && fgets(text, sizeof text, map) != NULL) {
    struct span rest = span_of_string(text);
    if (symbol_line_next(&rest, &line) < 0) continue;
    is_found = span_is_equal(line.name, span_of_string("_text"));
    if (is_found) *ret = line.address;
  }
  rewind(map);
  return is_found;
}

static FILE *open_map(const char *root) {
  char path[KERNEL_PATH_BYTES];
  struct utsname machine;
  if (uname(&machine) < 0) return NULL;
  if (snprintf(path, sizeof path, "%s/boot/System.map-%s", root, machine.release) >=
      (int)sizeof path)
    return NULL;
  return fopen(path, "re");
}

static unsigned copy_from_map(const char *root, const struct kernel_piece *piece, FILE *out) {
  struct kernel_piece built = *piece;
  unsigned count = 0;
  FILE *map = strcmp(piece->name, KERNEL_NAME) == 0 ? open_map(root) : NULL;
  if (map == NULL) return 0;
  if (find_base(map, &built.base)) count = copy_functions(map, &built, out);
  fclose(map);
  return count;
}

static unsigned copy_from_kernel(const char *root, const struct kernel_piece *piece, FILE *out) {
  char path[KERNEL_PATH_BYTES];
  if (piece->base == 0) return 0;
  snprintf(path, sizeof path, "%s/proc/kallsyms", root);
  FILE *in = fopen(path, "re");
  if (in == NULL) return 0;
  unsigned count = copy_functions(in, piece, out);
  fclose(in);
  return count;
}

/* Makes the list as a file in memory. Returns its descriptor or -errno. */
static int make(const char *root, const struct kernel_piece *piece) {
  int fd = memfd_create("fleetprof-kernel-symbols", MFD_CLOEXEC);
  if (fd < 0) return -errno;
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
  if (out == NULL) {
    if (copy >= 0) close(copy);
    close(fd);
    return -ENOMEM;
  }
  write_head(piece, out);
  unsigned count = copy_from_kernel(root, piece, out);
  if (count == 0) count = copy_from_map(root, piece, out);
  if (fclose(out) == 0 && count > 0) return fd;
  close(fd);
  return count > 0 ? -ENOMEM : -ENOENT;
}

/* Finds the piece of MODULE, without a base if the kernel hides it. */
static int find_piece(const char *root, const struct debug_module *module, struct kernel_piece *ret,
                      char *why, unsigned long why_len) {
  struct kernel_layout layout;
  struct kernel_piece hidden;
  int error = kernel_layout_read(root, &layout);
  const struct kernel_piece *found = error ? NULL : find_in(&layout, module);
  if (error && kernel_layout_read_id(root, &hidden) == 0 && is_piece(&hidden, module))
    found = &hidden;
  if (found != NULL) *ret = *found;
  if (found == NULL) snprintf(why, why_len, "%s", error ? layout.why : "another kernel runs now");
  kernel_layout_fini(&layout);
  return found ? 0 : error ? error : -ENOENT;
}

int kernel_symbols_find(const char *root, const struct debug_module *module,
                        struct debug_found *ret, char *why, unsigned long why_len) {
  struct kernel_piece piece;
  struct stat made;
  int error = find_piece(root, module, &piece, why, why_len);
  if (error) return error;
  int fd = make(root, &piece);
  if (fd >= 0 && fstat(fd, &made) == 0) {
    *ret = (struct debug_found){.fd = fd, .size_bytes = (uint64_t)made.st_size};
    return 0;
  }
  if (fd >= 0) close(fd);
  snprintf(why, why_len, "the kernel says no names, and there is no System.map of it in /boot");
  return -ENOENT;
}
