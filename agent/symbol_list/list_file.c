/* SPDX-License-Identifier: Apache-2.0 */
/* A list is mapped, not read: a search touches about twenty pages, which other searches share.
   /proc/kallsyms has no size and cannot be mapped, so it is read.

   An unsorted list that is taken for sorted would silently give wrong names.  So it is read through
   once (about 0.1 s for 100 MB), unless the user asserts that it is sorted.

   A linker's map has another format, and its lines depend on earlier lines.  It is converted in
   memory to the format of `nm -S`. */
#include "list_file.h"

#include "list_index.h"
#include "symbol_list.h"

#include "common/buf.h"
#include "common/linker_map.h"
#include "common/number_text.h"
#include "common/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE_PREFIX "0x" /* a size of one digit would be taken for a type */

enum { READ_BYTES = 1 << 20, PATH_BYTES = 4096 };

/* The bytes of a file, mapped or read. */
struct content {
  struct span bytes;
  struct buf read;
};

struct list_file {
  struct content text, index_file;
  struct buf made; /* an index that is only in memory */
  struct list_index index;
  bool has_index, is_linker_map;
};

static int read_all(int fd, struct buf *ret) {
  for (;;) {
    uint8_t *at = buf_reserve(ret, READ_BYTES);
    if (at == NULL) return -ENOMEM;
    ssize_t got = read(fd, at, READ_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    if (got == 0) return 0;
    ret->len += (size_t)got;
    if (ret->len > LIST_FILE_READ_BYTES_MAX) return -EFBIG;
  }
}

static int take_content(int fd, struct content *ret) {
  struct stat status;
  if (fstat(fd, &status) != 0) return -errno;
  if (S_ISDIR(status.st_mode)) return -EISDIR;
  if (S_ISREG(status.st_mode) && status.st_size > 0) {
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED) return -errno;
    ret->bytes = span_of(map, (size_t)status.st_size);
    return 0;
  }
  int error = read_all(fd, &ret->read);
  ret->bytes = buf_span(&ret->read);
  return error;
}

static int open_content(const char *path, struct content *ret, char *why) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  int error = fd < 0 ? -errno : take_content(fd, ret);
  if (fd >= 0) close(fd);
  if (error != 0) snprintf(why, LIST_FILE_WHY_BYTES, "%s", strerror(-error));
  return error;
}

static void close_content(struct content *content) {
  if (content->bytes.data != NULL && content->read.data == NULL)
    munmap((void *)(uintptr_t)content->bytes.data, content->bytes.len);
  buf_fini(&content->read);
}

/* Appends "ADDRESS SIZE TYPE NAME [FILE]".  A bracket in FILE is replaced, as the last one is
   significant. */
static void write_line(const struct symbol_line *line, struct buf *ret) {
  number_text_hex(line->address, ret);
  buf_append_byte(ret, ' ');
  buf_append(ret, SIZE_PREFIX, sizeof SIZE_PREFIX - 1);
  number_text_hex(line->size, ret);
  const uint8_t type[] = {' ', (uint8_t)line->type, ' '};
  buf_append(ret, type, sizeof type);
  buf_append(ret, line->name.data, line->name.len);
  buf_append(ret, " [", 2);
  size_t at = ret->len;
  buf_append(ret, line->module.data, line->module.len);
  for (; at < ret->len; at++)
    if (ret->data[at] == '[') ret->data[at] = '(';
  buf_append(ret, "]\n", 2);
}

/* Converts FILE's text, a linker's map, to a list. */
static int list_linker_map(struct list_file *file, char *why) {
  struct linker_map map;
  struct symbol_line line;
  struct buf text = {0};
  linker_map_begin(file->text.bytes, &map);
  while (linker_map_next(&map, &line) == 0 && text.len <= LIST_FILE_READ_BYTES_MAX)
    write_line(&line, &text);
  int error = text.failed ? -ENOMEM : text.len > LIST_FILE_READ_BYTES_MAX ? -EFBIG : 0;
  if (error != 0) {
    snprintf(why, LIST_FILE_WHY_BYTES, "%s", strerror(-error));
    buf_fini(&text);
    return error;
  }
  close_content(&file->text);
  file->text = (struct content){.bytes = buf_span(&text), .read = text};
  return 0;
}

static int use_index_file(struct list_file *file, const char *path, char *why) {
  int error = open_content(path, &file->index_file, why);
  if (error != 0) return error;
  error = list_index_parse(file->index_file.bytes, file->text.bytes, &file->index);
  if (error == -ESTALE)
    snprintf(why, LIST_FILE_WHY_BYTES, "the index is another list's: make it anew (--make-index)");
  else if (error != 0)
    snprintf(why, LIST_FILE_WHY_BYTES, "the index is none: make it with --make-index");
  return error;
}

static int make_index(struct list_file *file, char *why) {
  int error = list_index_build(file->text.bytes, &file->made);
  if (error == 0) error = list_index_parse(buf_span(&file->made), file->text.bytes, &file->index);
  if (error == -EOVERFLOW)
    snprintf(why, LIST_FILE_WHY_BYTES, "is not sorted, and too long to be sorted here: sort it");
  else if (error != 0)
    snprintf(why, LIST_FILE_WHY_BYTES, "is not sorted, and cannot be: %s", strerror(-error));
  return error;
}

/* Prepares FILE for searching according to CHOICE. */
static int prepare(struct list_file *file, const struct list_choice *choice, char *why) {
  file->has_index = choice->index_path != NULL;
  if (file->has_index) return use_index_file(file, choice->index_path, why);
  if (choice->is_sorted && !file->is_linker_map) return 0;
  struct symbol_list_shape shape = symbol_list_look(file->text.bytes);
  if (shape.symbol_count == 0 || !shape.has_addresses) {
    snprintf(why, LIST_FILE_WHY_BYTES, "%s",
             shape.symbol_count == 0
                 ? "has no symbols: it is no list of nm, System.map, kallsyms or a linker"
                 : "has only zeros for addresses: the kernel shows them to root "
                   "(sysctl kernel.kptr_restrict)");
    return -EBADMSG;
  }
  file->has_index = shape.disorder_line != 0;
  return file->has_index ? make_index(file, why) : 0;
}

int list_file_open(const struct list_choice *choice, struct list_file **ret,
                   char why[LIST_FILE_WHY_BYTES]) {
  struct list_file *file = calloc(1, sizeof *file);
  snprintf(why, LIST_FILE_WHY_BYTES, "out of memory");
  if (file == NULL) return -ENOMEM;
  int error = open_content(choice->path, &file->text, why);
  file->is_linker_map = error == 0 && linker_map_is(file->text.bytes);
  if (file->is_linker_map) error = list_linker_map(file, why);
  if (error == 0) error = prepare(file, choice, why);
  if (error != 0) {
    list_file_close(file);
    return error;
  }
  bool is_mapped = file->text.bytes.len > 0 && file->text.read.data == NULL;
  if (is_mapped) /* no read-ahead: the next probe is elsewhere */
    madvise((void *)(uintptr_t)file->text.bytes.data, file->text.bytes.len, MADV_RANDOM);
  *ret = file;
  return 0;
}

void list_file_close(struct list_file *file) {
  if (file == NULL) return;
  close_content(&file->text);
  close_content(&file->index_file);
  buf_fini(&file->made);
  free(file);
}

struct span list_file_text(const struct list_file *file) {
  return file->text.bytes;
}

int list_file_find(const struct list_file *file, uint64_t address, struct symbol_line *ret) {
  return file->has_index ? list_index_find(&file->index, address, ret)
                         : symbol_list_find(file->text.bytes, address, ret);
}

/* Processes that have the old index open continue to use it. */
static int replace(const char *path, struct span bytes) {
  char fresh[PATH_BYTES];
  int len = snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
  if (len < 0 || (size_t)len >= sizeof fresh) return -ENAMETOOLONG;
  int fd = mkostemp(fresh, O_CLOEXEC);
  if (fd < 0) return -errno;
  int error = write_all(fd, bytes);
  if (error == 0 && fchmod(fd, 0644) != 0) error = -errno;
  if (close(fd) != 0 && error == 0) error = -errno;
  if (error == 0 && rename(fresh, path) != 0) error = -errno;
  if (error != 0) unlink(fresh);
  return error;
}

int list_file_write_index(const struct list_file *file, const char *path,
                          char why[LIST_FILE_WHY_BYTES]) {
  struct buf bytes = {0};
  int error = list_index_build(file->text.bytes, &bytes);
  if (error == 0) error = replace(path, buf_span(&bytes));
  if (error != 0) snprintf(why, LIST_FILE_WHY_BYTES, "%s", strerror(-error));
  buf_fini(&bytes);
  return error;
}
