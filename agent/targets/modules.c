/* SPDX-License-Identifier: Apache-2.0 */
/* A module begins as a name with an inode. It is interned without a system call, because five
   hundred short programs with four libraries each must cost nothing. The first sample in it
   identifies it: the file is opened and its stamp (device, inode, size, mtime) compared with the
   known files. Only a new file is read; if that could block, by a child (far_files.c). The file's
   entry, which all processes share, then replaces the name's entry.

   Names and files are in one array, so that a batch can refer to any module by an index:

     NAMED ──first sample──▶ FILE      build-id or content hash, segments
                       └───▶ LOST      gone, unreadable or no ELF: path only, address 0
     PSEUDO                            [vdso], [anon], [kernel]: no file, address 0

   Nothing is freed while a window is open, because the window holds indexes. When the table is
   nearly full, modules that no process maps are removed between two windows. */
#include "modules.h"
#include "far_files.h"

#include "common/table.h"
#include "elf/module_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  MODULES_FULL = MODULES_MAX * 3 / 4, /* sweep from here on, so that a window finds room */
  OPEN_PATH_BYTES = LIMIT_PATH_BYTES + 32,
};

enum module_state { MODULE_STATE_FREE, NAMED, IDENTIFIED, LOST, PSEUDO };

struct module {
  enum module_state state;
  bool is_marked, is_needed;
  uint32_t payer_id; /* the target that added it, or 0 */
  uint32_t id_bytes;
  uint32_t segment_count;
  char *path;
  char *open_path; /* modules_open_path; NULL: none */
  struct elf_segment *segments;
  uint8_t *id;
  uint64_t first_hash;
  struct module_stamp stamp; /* NAMED: only the inode, and the device as in the mappings */
};

struct modules {
  struct module *rows;
  uint32_t count; /* rows ever used */
  uint32_t live;
  uint64_t needs_serial;
  struct table by_key; /* hash of path and stamp -> row */
  modules_on_file *on_file;
  void *context;
  struct toll reading; /* of files, for all targets */
  struct far_files far;
  const struct toll *payer; /* the target being served, or NULL */
  uint32_t payer_id;
};

static uint64_t key_of(const char *path, size_t path_len, const struct module_stamp *stamp) {
  uint64_t seed =
      stamp->device ^ stamp->inode << 1 ^ stamp->size_bytes << 3 ^ (uint64_t)stamp->modified_ns;
  return table_hash(path, path_len, seed);
}

static bool is_same_stamp(const struct module_stamp *a, const struct module_stamp *b) {
  return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
         a->modified_ns == b->modified_ns && a->owner == b->owner;
}

static uint32_t find_row(const struct modules *modules, struct span path,
                         const struct module_stamp *stamp) {
  uint32_t cursor;
  uint64_t key = key_of((const char *)path.data, path.len, stamp);
  for (uint32_t row = table_find(&modules->by_key, key, &cursor); row != TABLE_NONE;
       row = table_next(&modules->by_key, key, &cursor)) {
    const struct module *m = &modules->rows[row];
    if (span_is_equal(span_of_string(m->path), path) && is_same_stamp(&m->stamp, stamp)) return row;
  }
  return MODULE_NONE;
}

static uint32_t free_row(struct modules *modules) {
  if (modules->count < MODULES_MAX) return modules->count;
  for (uint32_t row = 0; row < MODULES_MAX; row++)
    if (modules->rows[row].state == MODULE_STATE_FREE) return row;
  return MODULE_NONE;
}

/* Limits a target's modules, so that other targets find room. */
static bool has_share(const struct modules *modules) {
  uint32_t count = 0;
  if (modules->payer_id == 0 || modules->live < MODULES_OF_TARGET) return true;
  for (uint32_t row = 0; row < modules->count; row++)
    count += modules->rows[row].state != MODULE_STATE_FREE &&
             modules->rows[row].payer_id == modules->payer_id;
  return count < MODULES_OF_TARGET;
}

/* The array grows by doubling: a board runs a few dozen files, not four thousand. */
static bool reserve_row(struct modules *modules, uint32_t row) {
  if (row < modules->count) return true;
  if ((row & (row - 1)) == 0) {
    uint32_t cap = row ? row * 2 : 1;
    struct module *rows = realloc(modules->rows, cap * sizeof *rows);
    if (rows == NULL) return false;
    modules->rows = rows;
  }
  modules->count = row + 1;
  modules->rows[row].state = MODULE_STATE_FREE;
  return true;
}

static uint32_t add_row(struct modules *modules, struct span path, const struct module_stamp *stamp,
                        enum module_state state) {
  uint32_t row = free_row(modules);
  if (row == MODULE_NONE || !has_share(modules) || !reserve_row(modules, row)) return MODULE_NONE;
  char *copy = strndup((const char *)path.data, path.len);
  if (copy == NULL) return MODULE_NONE;
  if (table_add(&modules->by_key, key_of(copy, path.len, stamp), row) < 0) {
    free(copy);
    return MODULE_NONE;
  }
  modules->rows[row] =
      (struct module){.state = state, .is_marked = true, .path = copy, .stamp = *stamp};
  modules->rows[row].payer_id = modules->payer_id;
  modules->live++;
  return row;
}

int modules_new(modules_on_file *on_file, void *context, struct modules **ret) {
  const char *const fixed[MODULE_FIXED_COUNT] = {
      [MODULE_ANON] = "[anon]",
      [MODULE_KERNEL] = "[kernel]",
      [MODULE_UNSAMPLED] = "[unsampled]",
      [MODULE_UNKNOWN] = "[unknown]",
      [MODULE_OTHERS] = "[others]",
      [MODULE_TRUNCATED] = stack_end_frame(STACK_TRUNCATED),
      [MODULE_NO_TABLE] = stack_end_frame(STACK_NO_TABLE),
      [MODULE_BAD_STACK] = stack_end_frame(STACK_BAD),
      [MODULE_OTHER_STACK] = stack_end_frame(STACK_OTHER),
  };
  const struct module_stamp none = {0};
  struct modules *modules = calloc(1, sizeof *modules);
  if (modules == NULL) return -ENOMEM;
  modules->on_file = on_file;
  modules->context = context;
  for (unsigned i = 0; i < MODULE_FIXED_COUNT; i++) {
    if (add_row(modules, span_of_string(fixed[i]), &none, PSEUDO) != i) {
      modules_free(modules);
      return -ENOMEM;
    }
  }
  *ret = modules;
  return 0;
}

static void row_clear(struct module *m) {
  free(m->path);
  free(m->open_path);
  free(m->segments);
  free(m->id);
  memset(m, 0, sizeof *m);
}

void modules_free(struct modules *modules) {
  if (modules == NULL) return;
  for (uint32_t row = 0; row < modules->count; row++) row_clear(&modules->rows[row]);
  table_fini(&modules->by_key);
  free(modules->rows);
  free(modules);
}

uint32_t modules_intern(struct modules *modules, const struct module_file *file) {
  struct span path = file->path;
  struct module_stamp stamp = {.inode = file->inode, .device = file->device};
  if (path.len > LIMIT_PATH_BYTES) path.len = LIMIT_PATH_BYTES;
  if (path.len == 0 || path.data[0] != '/' || (path.len > 1 && path.data[1] == '/')) {
    /* "//anon" is perf's name for memory without a name. */
    if (path.len == 0 || path.data[0] != '[') return MODULE_ANON;
    stamp = (struct module_stamp){0};
  }
  uint32_t row = find_row(modules, path, &stamp);
  if (row != MODULE_NONE) return row;
  row = add_row(modules, path, &stamp, path.data[0] == '[' ? PSEUDO : NAMED);
  return row == MODULE_NONE ? MODULE_ANON : row;
}

static bool store_identity(struct module *m, const struct module_identity *identity) {
  size_t segment_bytes = identity->notes.segment_count * sizeof *m->segments;
  struct elf_segment *segments = malloc(segment_bytes ? segment_bytes : 1);
  uint8_t *id = malloc(identity->id_bytes);
  if (segments == NULL || id == NULL) {
    free(segments);
    free(id);
    return false;
  }
  memcpy(segments, identity->notes.segments, segment_bytes);
  memcpy(id, identity->id, identity->id_bytes);
  m->segments = segments;
  m->segment_count = identity->notes.segment_count;
  m->id = id;
  m->id_bytes = identity->id_bytes;
  m->first_hash = identity->first_hash;
  m->state = IDENTIFIED;
  return true;
}

void modules_set_payer(struct modules *modules, const struct toll *payer, uint32_t id) {
  modules->payer = payer;
  modules->payer_id = id;
}

uint32_t modules_add_known(struct modules *modules, const char *name, struct span id) {
  struct module_stamp stamp = {.device = UINT64_MAX, .inode = table_hash(id.data, id.len, 0)};
  struct module_identity identity = {.id_bytes = (uint32_t)id.len};
  uint32_t row = find_row(modules, span_of_string(name), &stamp);
  if (row != MODULE_NONE) return row;
  if (id.len == 0 || id.len > sizeof identity.id) return MODULE_KERNEL;
  memcpy(identity.id, id.data, id.len);
  row = add_row(modules, span_of_string(name), &stamp, LOST);
  if (row == MODULE_NONE) return MODULE_KERNEL;
  if (!store_identity(&modules->rows[row], &identity)) return row;
  const struct module_found found = {id, modules->rows[row].path, "", -1};
  modules->on_file(modules->context, &found);
  return row;
}

/* A file with an open FD, or -1. */
struct opened {
  int fd;
  const char *path;
};

static uint32_t tell_of(const struct modules *modules, uint32_t row, const struct opened *opened) {
  struct module *m = &modules->rows[row];
  const struct module_found found = {span_of(m->id, m->id_bytes), m->path, opened->path,
                                     opened->fd};
  char *copy = strdup(opened->path);
  if (copy != NULL) {
    free(m->open_path);
    m->open_path = copy;
  }
  modules->on_file(modules->context, &found);
  return row;
}

/* The row of a known file, updated with another process's path to it: the previous process may be
   gone. */
static uint32_t find_file(const struct modules *modules, uint32_t index,
                          const struct module_stamp *stamp, const struct opened *opened) {
  uint32_t row = find_row(modules, span_of_string(modules->rows[index].path), stamp);
  if (row == MODULE_NONE || modules->rows[row].state != IDENTIFIED) return row;
  return tell_of(modules, row, opened);
}

/* Adds a row for a file under the name of INDEX. */
static uint32_t add_file(struct modules *modules, uint32_t index, const struct module_stamp *stamp,
                         const struct module_identity *identity, const struct opened *opened) {
  uint32_t row = add_row(modules, span_of_string(modules->rows[index].path), stamp, LOST);
  if (row == MODULE_NONE || !store_identity(&modules->rows[row], identity)) return MODULE_NONE;
  return tell_of(modules, row, opened);
}

/* The row of the file that now has the name of INDEX. */
static uint32_t identify_near(struct modules *modules, uint32_t index, pid_t pid) {
  char open_path[OPEN_PATH_BYTES];
  struct module_stamp stamp;
  struct module_identity identity;
  const struct module *m = &modules->rows[index];
  uint32_t row = MODULE_NONE;
  const struct module_wanted wanted = {m->path, pid, m->stamp.device, m->stamp.inode};
  int fd = module_file_open(&wanted, open_path);
  if (fd < 0) return MODULE_NONE;
  const struct opened opened = {fd, open_path};
  if (module_file_stamp(fd, &stamp) == 0) {
    row = find_file(modules, index, &stamp, &opened);
    if (row == MODULE_NONE && module_file_identify(fd, &stamp, &identity) == 0)
      row = add_file(modules, index, &stamp, &identity, &opened);
  }
  close(fd);
  return row;
}

static uint32_t identify_far(struct modules *modules, uint32_t index, pid_t pid) {
  struct far_answer answer;
  const struct module *m = &modules->rows[index];
  struct far_question question = {m->path, pid, m->stamp.device, m->stamp.inode};
  if (far_files_ask(&modules->far, &question, NULL, &answer) != 0 || answer.error != 0)
    return MODULE_NONE;
  const struct opened opened = {-1, answer.open_path};
  uint32_t row = find_file(modules, index, &answer.stamp, &opened);
  if (row != MODULE_NONE) return row;
  return add_file(modules, index, &answer.stamp, &answer.identity, &opened);
}

/* The row for an unreadable file, which has only a name. */
static uint32_t lost_row(struct modules *modules, uint32_t index) {
  struct module_stamp lost = {.device = UINT64_MAX, .inode = modules->rows[index].stamp.inode};
  struct span path = span_of_string(modules->rows[index].path);
  uint32_t row = find_row(modules, path, &lost);
  if (row == MODULE_NONE) row = add_row(modules, path, &lost, LOST);
  return row == MODULE_NONE ? MODULE_ANON : row;
}

uint32_t modules_identify(struct modules *modules, uint32_t index, pid_t pid) {
  const struct module *m = &modules->rows[index];
  if (m->state != NAMED) return index;
  if (modules->payer != NULL && toll_is_over(modules->payer)) return index; /* in the next turn */
  if (!toll_begin(&modules->reading, TOLL_TURN_MS)) return index;
  bool is_far = m->stamp.device == MODULES_DEVICE_UNSURE ||
                far_files_is_far(&modules->far, pid, m->stamp.device);
  uint32_t row = (is_far ? identify_far : identify_near)(modules, index, pid);
  toll_end(&modules->reading);
  return row != MODULE_NONE ? row : lost_row(modules, index);
}

const char *modules_open_path(const struct modules *modules, uint32_t index) {
  const char *path = modules->rows[index].open_path;
  return path != NULL ? path : "";
}

bool modules_is_settled(const struct modules *modules, uint32_t index) {
  return modules->rows[index].state != NAMED;
}

uint32_t modules_adopt(struct modules *modules, const struct batch_module *module) {
  struct span path = span_of_string(module->path);
  if (path.len > LIMIT_PATH_BYTES) path.len = LIMIT_PATH_BYTES;
  if (module->id.len == 0) return modules_intern(modules, &(struct module_file){.path = path});
  /* No file has these numbers, so this stamp can stand for the ID. */
  struct module_stamp stamp = {.device = UINT64_MAX,
                               .inode = table_hash(module->id.data, module->id.len, 1),
                               .size_bytes = module->size_bytes,
                               .owner = MODULE_OWNER_UNSURE};
  uint32_t row = find_row(modules, path, &stamp);
  if (row != MODULE_NONE) return row;
  row = add_row(modules, path, &stamp, LOST);
  uint8_t *id = row != MODULE_NONE ? malloc(module->id.len) : NULL;
  if (id == NULL) return MODULE_ANON;
  memcpy(id, module->id.data, module->id.len);
  struct module *m = &modules->rows[row];
  m->id = id;
  m->id_bytes = (uint32_t)module->id.len;
  m->state = IDENTIFIED;
  return row;
}

void modules_describe(const struct modules *modules, uint32_t index, struct batch_module *ret) {
  const struct module *m = &modules->rows[index];
  *ret = (struct batch_module){.path = m->path, .kind = MODULE_PSEUDO};
  if (m->state != IDENTIFIED) return;
  ret->kind = MODULE_ELF;
  ret->id = span_of(m->id, m->id_bytes);
  ret->size_bytes = m->stamp.size_bytes;
}

bool modules_segments(const struct modules *modules, uint32_t index, const struct elf_segment **ret,
                      uint32_t *ret_count) {
  const struct module *m = &modules->rows[index];
  *ret = m->segments;
  *ret_count = m->segment_count;
  return m->state == IDENTIFIED;
}

bool modules_is_same_path(const struct modules *modules, uint32_t a, uint32_t b) {
  return a == b || strcmp(modules->rows[a].path, modules->rows[b].path) == 0;
}

uint64_t modules_first_hash(const struct modules *modules, uint32_t index) {
  const struct module *m = &modules->rows[index];
  return m->state == IDENTIFIED ? m->first_hash : 0;
}

static const char *last_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

uint32_t modules_find_image(const struct modules *modules, const char *path, uint64_t hash) {
  const char *name = last_name(path);
  for (uint32_t row = MODULE_FIXED_COUNT; row < modules->count; row++) {
    const struct module *m = &modules->rows[row];
    if (m->state == IDENTIFIED && m->first_hash == hash && strcmp(last_name(m->path), name) == 0)
      return row;
  }
  return MODULE_NONE;
}

bool modules_is_public(const struct modules *modules, uint32_t index) {
  const struct module *m = &modules->rows[index];
  return m->state == PSEUDO || (m->state == IDENTIFIED && m->stamp.is_public);
}

uint32_t modules_owner(const struct modules *modules, uint32_t index) {
  return modules->rows[index].stamp.owner;
}

void modules_need(struct modules *modules, uint32_t index) {
  struct module *m = &modules->rows[index];
  if (!m->is_needed) modules->needs_serial++;
  m->is_needed = true;
}

uint64_t modules_needs_serial(const struct modules *modules) {
  return modules->needs_serial;
}

bool modules_is_needed(const struct modules *modules, uint32_t index) {
  return modules->rows[index].is_needed;
}

bool modules_is_full(const struct modules *modules) {
  return modules->live >= MODULES_FULL;
}

void modules_unmark(struct modules *modules) {
  for (uint32_t row = MODULE_FIXED_COUNT; row < modules->count; row++)
    modules->rows[row].is_marked = false;
}

void modules_mark(struct modules *modules, uint32_t index) {
  if (index < modules->count) modules->rows[index].is_marked = true;
}

void modules_sweep(struct modules *modules) {
  table_clear(&modules->by_key);
  for (uint32_t row = 0; row < modules->count; row++) {
    struct module *m = &modules->rows[row];
    if (m->state == MODULE_STATE_FREE) continue;
    if (m->is_marked &&
        table_add(&modules->by_key, key_of(m->path, strlen(m->path), &m->stamp), row) == 0)
      continue;
    row_clear(m);
    modules->live--;
  }
}
