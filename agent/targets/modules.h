/* SPDX-License-Identifier: Apache-2.0 */
/* Every executable file that a target has mapped, by an index that is valid until the module is
   swept. A file is identified at the first sample in it, by its build ID or the SHA-256 of its
   content. */
#ifndef TARGETS_MODULES_H
#define TARGETS_MODULES_H

#include "toll.h"

#include "elf/elf_notes.h"
#include "proto/batch.h"

#include <stdbool.h>
#include <sys/types.h>

struct modules;

enum {
  MODULES_MAX = 4096,
  MODULES_OF_TARGET = 1536, /* nearly twice the limit of a process's mappings */
  MODULE_NONE = UINT32_MAX,
#define MODULES_DEVICE_UNSURE UINT64_MAX /* of a file that no mapping shows: it may block */
  MODULE_ANON = 0,                       /* fixed modules at fixed indexes */
  MODULE_KERNEL,
  MODULE_UNSAMPLED,
  MODULE_UNKNOWN,   /* the process was gone before its mappings were read */
  MODULE_OTHERS,    /* programs of the board that must not be shipped */
  MODULE_TRUNCATED, /* these four are roots of incomplete stacks */
  MODULE_NO_TABLE,
  MODULE_BAD_STACK,
  MODULE_OTHER_STACK,
  MODULE_FIXED_COUNT,
};

/* A file as named by a mapping, not opened yet. */
struct module_file {
  struct span path; /* "[vdso]" and the like are pseudo modules; empty: anonymous memory */
  uint64_t inode;   /* 0: unknown */
  uint64_t device;  /* of the mapping (mount_info.h); 0: unknown */
};

/* An identified file. */
struct module_found {
  struct span id;
  const char *path, *open_path; /* open_path currently opens it */
  int fd; /* open on it, the caller's; -1 if the file system may block, or there is no file */
};

/* Called for each file when it is identified, and again for each process for which that is done. */
typedef void modules_on_file(void *context, const struct module_found *found);

int modules_new(modules_on_file *on_file, void *context, struct modules **ret);
void modules_free(struct modules *modules);

/* Returns the index of FILE, which is added if it is new; MODULE_ANON if the table is full. */
uint32_t modules_intern(struct modules *modules, const struct module_file *file);

/* Returns the index of a module that is already identified, with addresses that the caller knows: a
   part of the kernel. MODULE_KERNEL if the table is full. */
uint32_t modules_add_known(struct modules *modules, const char *name, struct span id);

/* Until the next call, new modules belong to the target ID, at most MODULES_OF_TARGET, and files
   are read only within PAYER's turn (borrowed). NULL and 0: no target. */
void modules_set_payer(struct modules *modules, const struct toll *payer, uint32_t id);

/* Identifies INDEX as mapped by PID (0: no living process). Returns the index to use from now on:
   the same (also if there was no time to read the file now), or the index of the same file known
   before. */
uint32_t modules_identify(struct modules *modules, uint32_t index, pid_t pid);

/* A path that opened the file of INDEX when it was last identified; "" if there was none. */
const char *modules_open_path(const struct modules *modules, uint32_t index);

/* False until there was time to read the file of INDEX. */
bool modules_is_settled(const struct modules *modules, uint32_t index);

/* Returns the index of a module known only from a recorded description; its file need not exist any
   more. MODULE_ANON if the table is full. */
uint32_t modules_adopt(struct modules *modules, const struct batch_module *module);

/* The module in the form of a batch; strings and id are borrowed until the next sweep. */
void modules_describe(const struct modules *modules, uint32_t index, struct batch_module *ret);

/* The segments of the file of INDEX, borrowed until the next sweep. Returns false if no file is
   known: addresses in it are then 0. */
bool modules_segments(const struct modules *modules, uint32_t index, const struct elf_segment **ret,
                      uint32_t *ret_count);

/* True if A and B were mapped under the same name. */
bool modules_is_same_path(const struct modules *modules, uint32_t a, uint32_t b);

/* unload_hash of the first segment of INDEX's file; 0: unknown. */
uint64_t modules_first_hash(const struct modules *modules, uint32_t index);
/* The file known under the name PATH with this hash; MODULE_NONE: there is none. */
uint32_t modules_find_image(const struct modules *modules, const char *path, uint64_t hash);

/* True if every user on this machine may read the file of INDEX, or it belongs to the kernel. */
bool modules_is_public(const struct modules *modules, uint32_t index);

/* The only uid besides root that can have written the file of INDEX, which is identified;
   MODULE_OWNER_UNSURE (elf/module_file.h). */
uint32_t modules_owner(const struct modules *modules, uint32_t index);

/* A frame in INDEX is part of a timer's walk that ended for lack of a table. Any frame may be the
   cause, because code without a table is walked by frame pointers. The table may already exist. */
void modules_need(struct modules *modules, uint32_t index);
bool modules_is_needed(const struct modules *modules, uint32_t index);
/* Changes when another module becomes needed. */
uint64_t modules_needs_serial(const struct modules *modules);

/* Sweep: unmark all, mark the used ones, remove the rest. */
bool modules_is_full(const struct modules *modules); /* a sweep is due */
void modules_unmark(struct modules *modules);
void modules_mark(struct modules *modules, uint32_t index);
void modules_sweep(struct modules *modules);

#endif
