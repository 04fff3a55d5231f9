/* SPDX-License-Identifier: Apache-2.0 */
/* Debug files are searched in this order:

     ROOT/usr/lib/debug/.build-id/ab/cdef.debug    for a module with build-id abcdef
     the name in .gnu_debuglink of the module's own file: beside it, in .debug/ beside it, and in
     ROOT/usr/lib/debug/DIRECTORY
     the module's own file

   For the kernel, /proc/kallsyms (kernel_symbols.c) comes before its tree.

   ROOT is the root of the target that used the module (a container has its own tree), then the
   daemon's. A separate file is accepted if its build-id is the module's and it has symbols or
   DWARF. The debuglink's CRC is ignored: build systems that strip twice are known to leave a wrong
   one, and a build-id is more reliable.

   The collector may name a module that only an earlier daemon has seen: its path is tried too. The
   exposure is limited: only an ELF file leaves this board, and only if the collector already had
   its build-id or its content's hash. */
#include "debug_find.h"
#include "regular_file.h"

#include "common/hex_text.h"
#include "elf_notes.h"
#include "elf_sections.h"
#include "kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  PATH_BYTES = 2 * LIMIT_PATH_BYTES,
  ROOT_BYTES = LIMIT_PATH_BYTES,
  HEX_BYTES = 2 * LIMIT_MODULE_ID_BYTES + 1,
  ID_BYTES_MIN = 2, /* a folder's name and a file's */
};

static const char debug_tree[] = "/usr/lib/debug";

struct search {
  const struct debug_module *module;
  char root[ROOT_BYTES]; /* of the target, "" for the daemon's own */
  int worst;             /* the most informative failure so far */
};

static void note_failure(struct search *search, int rc) {
  if (rc == -EACCES || rc == -EPERM)
    search->worst = -EACCES;
  else if (rc == -EFBIG && search->worst != -EACCES)
    search->worst = -EFBIG;
}

/* Opens the regular file PATH.  Returns the descriptor or -errno. */
static int open_file(struct search *search, const char *path, uint64_t *ret_size) {
  struct stat status;
  int fd = regular_file_open(path, &status), rc = fd < 0 ? fd : 0;
  if (rc == 0 && (uint64_t)status.st_size > LIMIT_DEBUG_FILE_BYTES) rc = -EFBIG;
  if (rc == 0) {
    *ret_size = (uint64_t)status.st_size;
    return fd;
  }
  note_failure(search, rc);
  if (fd >= 0) close(fd);
  return rc;
}

/* --- Separate debug files --- */

static bool try_separate(struct search *search, const char *path, struct debug_found *ret) {
  struct elf_sections sections;
  uint64_t size = 0;
  int fd = open_file(search, path, &size);
  if (fd < 0) return false;
  if (elf_sections_read(elf_read_fd, &fd, &sections) == 0 &&
      (sections.has_functions || sections.has_dwarf) &&
      span_is_equal(span_of(sections.build_id, sections.build_id_bytes), search->module->id)) {
    *ret = (struct debug_found){.fd = fd, .size_bytes = size};
    return true;
  }
  close(fd);
  return false;
}

static bool try_tree(struct search *search, struct debug_found *ret) {
  char hex[HEX_BYTES] = "", path[PATH_BYTES];
  if (search->module->id.len < ID_BYTES_MIN || search->module->id.len > LIMIT_MODULE_ID_BYTES)
    return false;
  hex_text_print(search->module->id, hex, sizeof hex);
  for (int i = search->root[0] != '\0' ? 0 : 1; i < 2; i++) {
    snprintf(path, sizeof path, "%s%s/.build-id/%.2s/%s.debug", i == 0 ? search->root : "",
             debug_tree, hex, hex + 2);
    if (try_separate(search, path, ret)) return true;
  }
  return false;
}

/* Tries the debuglink NAME of the module's file, under ROOT. */
static bool try_link(struct search *search, const char *root, const char *name,
                     struct debug_found *ret) {
  char path[PATH_BYTES];
  const char *own = search->module->path, *slash = strrchr(own, '/');
  if (slash == NULL) return false;
  int len = (int)(slash - own);
  snprintf(path, sizeof path, "%s%.*s/%s", root, len, own, name);
  if (try_separate(search, path, ret)) return true;
  snprintf(path, sizeof path, "%s%.*s/.debug/%s", root, len, own, name);
  if (try_separate(search, path, ret)) return true;
  snprintf(path, sizeof path, "%s%s%.*s/%s", root, debug_tree, len, own, name);
  return try_separate(search, path, ret);
}

static bool is_plain_name(const char *name) {
  return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
}

static bool try_links(struct search *search, int own, struct debug_found *ret) {
  struct elf_sections sections;
  if (elf_sections_read(elf_read_fd, &own, &sections) < 0 || !is_plain_name(sections.debuglink))
    return false;
  if (search->root[0] != '\0' && try_link(search, search->root, sections.debuglink, ret))
    return true;
  return try_link(search, "", sections.debuglink, ret);
}

/* --- The module's own file --- */

/* Opens PATH if it still is the module. */
static bool try_own(struct search *search, const char *path, struct debug_found *ret) {
  struct elf_notes notes;
  uint64_t size = 0;
  if (path[0] != '/') return false;
  int fd = open_file(search, path, &size);
  if (fd < 0) return false;
  bool is_elf = elf_notes_read(elf_read_fd, &fd, &notes) == 0;
  bool is_same = is_elf && notes.build_id_bytes > 0 &&
                 span_is_equal(span_of(notes.build_id, notes.build_id_bytes), search->module->id);
  bool may_be = is_elf && notes.build_id_bytes == 0;
  if (is_same || may_be) {
    *ret = (struct debug_found){.fd = fd, .size_bytes = size, .is_id_content = may_be};
    return true;
  }
  close(fd);
  return false;
}

/* Sets the root of OPEN_PATH: its part before the module's own path, or the root of the process
   that has the file. */
static void find_root(struct search *search) {
  const char *open_path = search->module->open_path, *path = search->module->path;
  size_t open_len = strlen(open_path), len = strlen(path);
  static const char proc[] = "/proc/";
  if (open_len >= sizeof search->root) return;
  if (len > 0 && open_len > len && strcmp(open_path + open_len - len, path) == 0) {
    snprintf(search->root, sizeof search->root, "%.*s", (int)(open_len - len), open_path);
  } else if (strncmp(open_path, proc, sizeof proc - 1) == 0) {
    int process_len = (int)(strcspn(open_path + sizeof proc - 1, "/") + sizeof proc - 1);
    snprintf(search->root, sizeof search->root, "%.*s/root", process_len, open_path);
  }
}

static int explain(const struct search *search, char *why, unsigned long why_len) {
  switch (search->worst) {
  case -EACCES:
    snprintf(why, why_len, "this daemon may not read its file");
    break;
  case -EFBIG:
    snprintf(why, why_len, "its file is over LIMIT_DEBUG_FILE_BYTES");
    break;
  default:
    snprintf(why, why_len, "no file with that id is left on this board");
    break;
  }
  return search->worst;
}

int debug_find(const struct debug_module *module, struct debug_found *ret, char *why,
               unsigned long why_len) {
  struct search search = {.module = module, .worst = -ENOENT};
  struct debug_found own, separate;
  find_root(&search);
  if (module->path[0] == '[') { /* the kernel, which has no file of its own */
    int error = kernel_symbols_find("", module, ret, why, why_len);
    return error != 0 && try_tree(&search, ret) ? 0 : error;
  }
  if (try_tree(&search, ret)) return 0;
  if (!try_own(&search, module->open_path, &own) && !try_own(&search, module->path, &own))
    return explain(&search, why, why_len);
  if (!own.is_id_content && try_links(&search, own.fd, &separate)) {
    close(own.fd);
    own = separate;
  }
  *ret = own;
  return 0;
}
