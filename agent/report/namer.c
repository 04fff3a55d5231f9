/* SPDX-License-Identifier: Apache-2.0 */
/* module -> debug file -> symbol index -> name, all on this machine.

   The search is the daemon's for a collector's request: by build-id in the tree of debug packages,
   by .gnu_debuglink, else the module's own path.  A file is used only if its build-id is the
   sampled one.  A module without build-id is identified by the hash of its content.

   One file may have been sampled at several paths: stripped at one, unstripped at another, or
   missing.  All are tried until one has debug information.  The user's folders come first.  A path
   that does not exist here may be a container's: while a process of the container lives, its root
   is tried.  Last come files that this process inherited: the daemon of a recording opened them
   while their programs ran.

   A report may be made by root, and a profile is untrusted and may name any path.  So no ELF file
   is parsed here.  The symbol worker does it in its sandbox, one process per file.  It writes the
   index into memory, which is fully checked before it is used. */
#include "namer.h"

#include "elf/debug_find.h"
#include "elf/debug_folders.h"
#include "elf/debug_supplements.h"
#include "elf/module_file.h"
#include "elf/other_roots.h"
#include "symbol/index_file.h"
#include "symbol/nursery.h"
#include "symbol/nursery_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  ROOT_BYTES = 32,
  MISSING_BYTES_MAX = 2 << 20,
  ROOM_STEP = 64,
  OPEN_PATH_BYTES = LIMIT_PATH_BYTES + 32,
  INHERITED_MAX = 256,
  TWINS_MAX = 8, /* paths of one file that are tried: a program may be in a thousand containers */
};

/* A file that was open when this program started. */
struct inherited {
  int fd;
  bool is_bad;               /* it cannot be a module */
  struct module_stamp stamp; /* set when it is first examined */
  uint32_t id_bytes;
  uint8_t id[LIMIT_MODULE_ID_BYTES];
};

struct loaded {
  bool is_tried;
  bool is_unread; /* its file is here, and no index could be made of it */
  int error;
  char why[LIMIT_VALUE_BYTES]; /* with a file: the missing parts of its debug information */
  struct index_file file;
};

struct namer {
  struct nursery *nursery;       /* or NULL: the program that parses files is missing */
  struct debug_folders *folders; /* the user's, or NULL */
  struct loaded *modules;
  uint32_t room;
  struct other_roots roots; /* filled in when first needed */
  bool has_roots;
  struct inherited *inherited;
  uint32_t inherited_count;
};

int namer_open(unsigned file_ms, struct namer **ret) {
  struct namer *namer = calloc(1, sizeof *namer);
  if (namer == NULL) return -ENOMEM;
  const struct nursery_options options = {.deadline_ms = file_ms, .deadlines = 1};
  int error = nursery_open(&options, &namer->nursery);
  if (error != 0 && error != -ENOENT) {
    free(namer);
    return error;
  }
  *ret = namer;
  return 0;
}

void namer_set_folders(struct namer *namer, struct debug_folders *folders) {
  namer->folders = folders;
}

void namer_use_inherited(struct namer *namer) {
  DIR *descriptors = opendir("/proc/self/fd");
  namer->inherited = calloc(INHERITED_MAX, sizeof *namer->inherited);
  for (const struct dirent *entry;
       descriptors != NULL && namer->inherited != NULL && (entry = readdir(descriptors)) != NULL;) {
    int fd = (int)strtol(entry->d_name, NULL, 10);
    if (fd <= STDERR_FILENO || namer->inherited_count == INHERITED_MAX) continue;
    namer->inherited[namer->inherited_count++].fd = fd;
  }
  if (descriptors != NULL) closedir(descriptors);
}

/* Identifies FILE once.  Its content is hashed only if IS_HASH_NEEDED and it has no build-id. */
static bool is_identified(struct inherited *file, bool is_hash_needed) {
  struct module_identity identity;
  struct elf_notes notes;
  if (file->is_bad || file->id_bytes > 0) return file->id_bytes > 0;
  if (module_file_stamp(file->fd, &file->stamp) != 0 ||
      elf_notes_read(elf_read_fd, &file->fd, &notes) != 0) {
    file->is_bad = true;
    return false;
  }
  if (notes.build_id_bytes == 0 && !is_hash_needed) return false;
  file->is_bad = module_file_identify(file->fd, &file->stamp, &identity) != 0;
  if (file->is_bad) return false;
  memcpy(file->id, identity.id, identity.id_bytes);
  file->id_bytes = identity.id_bytes;
  return true;
}

/* Tries files with a build-id first, then other files of the module's size. */
static int open_inherited(const struct namer *namer, const struct profile_module *module) {
  for (unsigned is_hash = 0; is_hash < 2; is_hash++)
    for (uint32_t i = 0; i < namer->inherited_count; i++) {
      struct inherited *file = &namer->inherited[i];
      bool is_needed = is_hash && file->stamp.size_bytes == module->size_bytes;
      if (is_identified(file, is_needed) &&
          span_is_equal(span_of(file->id, file->id_bytes), module->id))
        return fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    }
  return -ENOENT;
}

static void unload(struct loaded *loaded) {
  if (loaded->file.bytes.data != NULL) index_file_close(&loaded->file);
}

void namer_close(struct namer *namer) {
  if (namer == NULL) return;
  nursery_close(namer->nursery);
  for (uint32_t i = 0; i < namer->room; i++) unload(&namer->modules[i]);
  free(namer->modules);
  free(namer->inherited);
  free(namer);
}

/* A file without build-id is the module if its bytes are equal. */
static bool has_content(int fd, const struct profile_module *module) {
  struct module_stamp stamp;
  struct module_identity identity;
  if (module_file_stamp(fd, &stamp) != 0 || stamp.size_bytes != module->size_bytes) return false;
  return module_file_identify(fd, &stamp, &identity) == 0 &&
         span_is_equal(span_of(identity.id, identity.id_bytes), module->id);
}

/* Searches MODULE at OPEN_PATH ("": none) and at its usual places. */
static int open_debug_file(const struct profile_module *module, const char *open_path, char *why) {
  const struct debug_module wanted = {
      .id = module->id, .path = module->path, .open_path = open_path};
  struct debug_found found;
  int error = debug_find(&wanted, &found, why, LIMIT_VALUE_BYTES);
  if (error != 0) return error;
  if (!found.is_id_content || has_content(found.fd, module)) return found.fd;
  close(found.fd);
  snprintf(why, LIMIT_VALUE_BYTES, "its file is another one by now");
  return -ESTALE;
}

/* Searches MODULE in the mount namespaces of other processes; ROOT is then the root of the file. */
static int open_elsewhere(struct namer *namer, const struct profile_module *module,
                          char root[ROOT_BYTES]) {
  char path[OPEN_PATH_BYTES], why[LIMIT_VALUE_BYTES];
  int fd = -ENOENT;
  if (module->path[0] != '/') return fd;
  if (!namer->has_roots) other_roots_find(&namer->roots);
  namer->has_roots = true;
  for (unsigned i = 0; i < namer->roots.count && fd < 0; i++) {
    snprintf(root, ROOT_BYTES, "/proc/%d/root", (int)namer->roots.pids[i]);
    snprintf(path, sizeof path, "%s%s", root, module->path);
    if (access(path, R_OK) == 0) fd = open_debug_file(module, path, why);
  }
  return fd;
}

/* Opens the file that names MODULE, at any of the places, below ROOT.  Returns the descriptor, or
   -errno and WHY. */
static int open_any(struct namer *namer, const struct profile_module *module, char root[ROOT_BYTES],
                    char *why) {
  struct debug_found found;
  root[0] = '\0';
  if (namer->folders != NULL && debug_folders_find(namer->folders, module->id, &found) == 0)
    return found.fd;
  int fd = open_debug_file(module, "", why);
  if (fd >= 0) return fd;
  int elsewhere = open_inherited(namer, module);
  if (elsewhere < 0) elsewhere = open_elsewhere(namer, module, root);
  return elsewhere >= 0 ? elsewhere : fd;
}

/* Lets a worker index the file of PROGRAM with the FOUND supplements.  If that fails, because they
   are broken or too large, repeats it without them. */
static int index_with(struct namer *namer, const struct debug_program *program,
                      struct debug_supplements *found, const int *missing, char *why) {
  struct worker_job job = {.elf = program->fd,
                           .depth = INDEX_ALL,
                           .supplements = found->fds,
                           .supplement_count = found->count,
                           .missing = missing};
  int index = nursery_index(namer->nursery, &job, why, LIMIT_VALUE_BYTES);
  if (index >= 0 || found->count == 0) return index;
  debug_supplements_close(found);
  job.supplement_count = 0;
  return nursery_index(namer->nursery, &job, why, LIMIT_VALUE_BYTES);
}

/* Searches the .dwo files that a worker has listed in MISSING.  Returns their number. */
static uint32_t add_missing(const struct debug_program *program, int missing,
                            struct debug_supplements *found) {
  uint32_t count = 0;
  char *list = malloc(MISSING_BYTES_MAX);
  ssize_t len = list != NULL && missing >= 0 ? pread(missing, list, MISSING_BYTES_MAX, 0) : 0;
  if (len > 0) count = debug_supplements_add(program, span_of(list, (size_t)len), found);
  free(list);
  return count;
}

/* As index_with, with all supplements that are found on this machine. */
static int index_program(struct namer *namer, const struct debug_program *program, char *why) {
  struct debug_supplements found;
  char better_why[LIMIT_VALUE_BYTES] = "";
  int missing = memfd_create("missing-units", MFD_CLOEXEC), better = -ENOENT;
  debug_supplements_find(program, &found);
  int index = index_with(namer, program, &found, missing >= 0 ? &missing : NULL, why);
  if (index >= 0 && add_missing(program, missing, &found) > 0)
    better = index_with(namer, program, &found, NULL, better_why);
  debug_supplements_close(&found);
  if (missing >= 0) close(missing);
  if (better < 0) return index;
  close(index);
  memcpy(why, better_why, LIMIT_VALUE_BYTES);
  return better;
}

static int load_one(struct namer *namer, const struct profile_module *module,
                    struct loaded *loaded) {
  if (namer->nursery == NULL) {
    snprintf(loaded->why, sizeof loaded->why,
             "this installation has no lib/fleetprof/fleetprof-symbols");
    return -ENOENT;
  }
  char root[ROOT_BYTES];
  int elf = open_any(namer, module, root, loaded->why);
  if (elf < 0) return elf; /* with the reason */
  const struct debug_program program = {elf, module->path, root, namer->folders};
  int index = index_program(namer, &program, loaded->why);
  close(elf);
  loaded->is_unread = index < 0;
  if (index < 0) return index;
  int error = index_file_read(index, &loaded->file);
  close(index);
  return error;
}

static enum names_quality quality_of(const struct loaded *loaded) {
  if (loaded->file.bytes.data == NULL) return NAMES_NONE;
  if (loaded->file.index.flags & INDEX_FROM_DWARF) return NAMES_DEBUG;
  return loaded->file.index.flags & INDEX_FROM_DYNSYM ? NAMES_EXPORTED : NAMES_ALL;
}

/* Loads MODULE, or a twin of it if that has better names. */
static int load(struct namer *namer, const struct profile_module *module, struct loaded *loaded) {
  const struct profile_module *twin = module->twin;
  int error = load_one(namer, module, loaded);
  for (unsigned i = 0; i < TWINS_MAX && twin != NULL && twin != module; i++, twin = twin->twin) {
    struct loaded other = {.error = 0};
    if (quality_of(loaded) == NAMES_DEBUG) break;
    bool is_better = load_one(namer, twin, &other) == 0 && quality_of(&other) > quality_of(loaded);
    unload(is_better ? loaded : &other);
    if (!is_better) continue;
    *loaded = (struct loaded){.is_tried = true, .file = other.file};
    memcpy(loaded->why, other.why, sizeof loaded->why);
    error = 0;
  }
  return error;
}

static int make_room(struct namer *namer, uint32_t count) {
  if (count <= namer->room) return 0;
  struct loaded *more = reallocarray(namer->modules, count, sizeof *more);
  if (more == NULL) return -ENOMEM;
  memset(more + namer->room, 0, (count - namer->room) * sizeof *more);
  namer->modules = more;
  namer->room = count;
  return 0;
}

int namer_load(struct namer *namer, uint32_t index, const struct profile_module *module,
               const char **ret_why) {
  int error = make_room(namer, index + ROOM_STEP - index % ROOM_STEP);
  if (error != 0) {
    *ret_why = "out of memory";
    return error;
  }
  struct loaded *loaded = &namer->modules[index];
  if (!loaded->is_tried) {
    loaded->is_tried = true;
    loaded->error = module->kind == MODULE_ELF ? load(namer, module, loaded) : -ENOENT;
    if (loaded->error != 0 && loaded->why[0] == '\0')
      snprintf(loaded->why, sizeof loaded->why, "%s", strerror(-loaded->error));
  }
  *ret_why = loaded->why;
  return loaded->error;
}

const struct symbol_index *namer_symbols(const struct namer *namer, uint32_t index) {
  bool is_there = index < namer->room && namer->modules[index].file.bytes.data != NULL;
  return is_there ? &namer->modules[index].file.index : NULL;
}

bool namer_is_unread(const struct namer *namer, uint32_t index) {
  return index < namer->room && namer->modules[index].is_unread;
}

const char *namer_lacks(const struct namer *namer, uint32_t index) {
  return namer_symbols(namer, index) != NULL ? namer->modules[index].why : "";
}

int namer_chain(const struct namer *namer, uint32_t index, uint64_t address,
                struct symbol_frame *frames) {
  const struct symbol_index *symbols = namer_symbols(namer, index);
  return symbols != NULL ? symbol_index_chain(symbols, address, frames) : -ENOENT;
}

const struct lr_tables *namer_lr(const struct namer *namer, uint32_t index) {
  const struct symbol_index *symbols = namer_symbols(namer, index);
  if (symbols == NULL) return NULL;
  return lr_tables_machine(&symbols->lr) != 0 ? &symbols->lr : NULL;
}

enum names_quality namer_quality(const struct namer *namer, uint32_t index) {
  return index < namer->room ? quality_of(&namer->modules[index]) : NAMES_NONE;
}
