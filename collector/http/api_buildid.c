/* SPDX-License-Identifier: Apache-2.0 */
/* The debuginfod protocol, so that gdb and other tools find the files uploaded for the profiler.

   A file's content decides its use: a debug file has DWARF or, failing that, a symbol table; an
   executable has code. A file that was never stripped is both.

   Only public files are served, since a name that a single board made up must not reach a debugger.
   Nothing is served from the file system, whatever the path.

   A section is cut out of a file by its section headers. These are untrusted, but can only select
   other bytes of the same file. */
#include "api.h"

#include "hex_id.h"
#include "names/debug_store.h"
#include "names/source_store.h"
#include "request.h"
#include "symbol/elf_outline.h"
#include "symbol/source_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const char section_word[] = "section/", source_word[] = "source/";

enum { SHOWN_PATH_BYTES = 256 }; /* in a header field */

/* An open file of the store; fd is -1 if there is none. */
struct opened {
  int fd;
  uint64_t bytes;
  struct elf_outline outline;
};

static bool open_file(const struct debug_file *file, struct opened *ret) {
  struct opened opened = {.bytes = file->bytes};
  if (file->quality == DEBUG_MAP) return false;
  opened.fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (opened.fd < 0) return false; /* evicted since the list was made */
  if (elf_outline_make(elf_read_fd, &opened.fd, &opened.outline) == 0) {
    *ret = opened;
    return true;
  }
  close(opened.fd);
  return false;
}

static unsigned debug_worth(const struct elf_outline *outline) {
  return outline->has_dwarf ? 2 : outline->has_symtab ? 1 : 0;
}

static unsigned code_worth(const struct elf_outline *outline) {
  return outline->has_code ? 1 : 0;
}

/* Opens that one of FILES, sorted best first, with the highest WORTH. Returns whether any has a
   WORTH above 0. */
static bool open_best(const struct debug_file *files, int count,
                      unsigned (*worth)(const struct elf_outline *outline), struct opened *ret) {
  struct opened best = {.fd = -1};
  for (int i = 0; i < count; i++) {
    struct opened next;
    if (!open_file(&files[i], &next)) continue;
    bool is_better = worth(&next.outline) > (best.fd < 0 ? 0 : worth(&best.outline));
    int other = is_better ? best.fd : next.fd;
    if (is_better) best = next;
    if (other >= 0) close(other);
  }
  *ret = best;
  return best.fd >= 0;
}

/* Finds section NAME in the file with the highest WORTH. */
static bool open_section(const struct debug_file *files, int count,
                         unsigned (*worth)(const struct elf_outline *outline), const char *name,
                         struct opened *ret, struct elf_section_place *ret_place) {
  struct opened opened;
  if (!open_best(files, count, worth, &opened)) return false;
  int error = elf_outline_find_section(elf_read_fd, &opened.fd, name, ret_place);
  bool is_within = error == 0 && ret_place->offset <= opened.bytes &&
                   ret_place->bytes <= opened.bytes - ret_place->offset;
  if (!is_within) close(opened.fd);
  *ret = opened;
  return is_within;
}

/* Opens the file, or section, named by the URL suffix WHAT ("debuginfo", "executable",
   "section/NAME"). */
static bool open_what(const char *what, const struct debug_file *files, int count,
                      struct opened *ret, struct elf_section_place *ret_place) {
  if (strncmp(what, section_word, sizeof section_word - 1) == 0) {
    const char *name = what + sizeof section_word - 1;
    return open_section(files, count, debug_worth, name, ret, ret_place) ||
           open_section(files, count, code_worth, name, ret, ret_place);
  }
  bool is_debug = strcmp(what, "debuginfo") == 0;
  if (!is_debug && strcmp(what, "executable") != 0) return false;
  if (!open_best(files, count, is_debug ? debug_worth : code_worth, ret)) return false;
  *ret_place = (struct elf_section_place){0, ret->bytes};
  return true;
}

/* Returns whether TEXT fits into a header field. A path from a board may hold any byte. */
static bool is_plain(const char *text) {
  for (; *text; text++)
    if (*text <= ' ' || *text > '~') return false;
  return true;
}

static void answer_file(struct request *request, const struct opened *opened,
                        const struct elf_section_place *place, const char *path) {
  struct answer *answer = &request->answer;
  char bytes[24];
  snprintf(bytes, sizeof bytes, "%" PRIu64, place->bytes);
  answer->type = "application/octet-stream";
  answer_add_field(answer, "X-DEBUGINFOD-SIZE", bytes);
  if (*path && is_plain(path)) answer_add_field(answer, "X-DEBUGINFOD-FILE", path);
  answer_take_file(answer, opened->fd, place->offset, place->bytes);
}

/* Answers with the source file WHAT of module ID. It is served from an uploaded bundle only,
   whatever the path. */
static void answer_source(struct request *request, struct span id, const char *what) {
  struct answer *answer = &request->answer;
  struct source_entry entry;
  struct source_bundle bundle = {.count = 0};
  struct buf path = {0};
  char bytes[24];
  source_path_join("/", what, &path);
  int error =
      path.failed ? -ENOMEM : source_store_map(request->service->parts.sources, id, &bundle);
  if (error == 0) error = source_bundle_find(&bundle, buf_span(&path), &entry);
  if (error == 0) error = source_entry_unpack(&entry, &answer->body);
  source_store_unmap(&bundle);
  if (error == 0) {
    answer->type = "application/octet-stream";
    snprintf(bytes, sizeof bytes, "%zu", answer->body.len);
    answer_add_field(answer, "X-DEBUGINFOD-SIZE", bytes);
    if (path.len < SHOWN_PATH_BYTES && is_plain(buf_text(&path)))
      answer_add_field(answer, "X-DEBUGINFOD-FILE", buf_text(&path));
  } else if (error == -ENOENT) {
    answer_problem(answer, 404, NULL, "no such source of this build-id is here");
  } else {
    answer_problem(answer, 500, NULL, "the source cannot be read: %s", strerror(-error));
  }
  buf_fini(&path);
}

/* Answers with the reason why nothing is served of module ID, which has COUNT public files. */
static void answer_missing(struct request *request, struct span id, int count) {
  struct debug_file file;
  const char *why = "no file of this build-id is here";
  if (count > 0)
    why = "the files of this build-id that are here do not have that";
  else if (debug_store_find(request->service->parts.debug, NULL, id, &file) == 0)
    why = "what one board alone has sent is served to nobody: upload it";
  answer_problem(&request->answer, 404, NULL, "%s", why);
}

void api_buildid(struct request *request) {
  struct debug_file files[DEBUG_PUBLIC_MAX];
  char path[LIMIT_PATH_BYTES + 1];
  struct hex_id id;
  struct opened opened;
  struct elf_section_place place;
  const char *slash = strchr(request->argument, '/');
  size_t id_len = slash ? (size_t)(slash - request->argument) : 0;
  if (hex_id_parse(span_of(request->argument, id_len), &id) != 0) {
    answer_problem(&request->answer, 400, NULL,
                   "the path is not /buildid/ID/debuginfo, /executable, /section/NAME or "
                   "/source/PATH");
    return;
  }
  if (strncmp(slash + 1, source_word, sizeof source_word - 1) == 0) {
    answer_source(request, span_of(id.bytes, id.len), slash + sizeof source_word);
    return;
  }
  struct debug_store *debug = request->service->parts.debug;
  int count = debug_store_public(debug, span_of(id.bytes, id.len), files, path);
  if (count < 0)
    answer_problem(&request->answer, 500, NULL, "the list cannot be read: %s", strerror(-count));
  else if (open_what(slash + 1, files, count, &opened, &place))
    answer_file(request, &opened, &place, path);
  else
    answer_missing(request, span_of(id.bytes, id.len), count);
}
