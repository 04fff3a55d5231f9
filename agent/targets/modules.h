/* SPDX-License-Identifier: Apache-2.0 */
/* Every executable file that a target has mapped, by an index that stays good until the module is
   swept.  A file is identified when the first sample falls into it: build-id, or the SHA-256 of its
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
  MODULES_OF_TARGET = 1536, /* twice what a process may have mapped, nearly */
  MODULE_NONE = UINT32_MAX,
#define MODULES_DEVICE_UNSURE UINT64_MAX /* of a file that no mapping shows: it may stall */
  MODULE_ANON = 0,                       /* these exist always, at these indexes */
  MODULE_KERNEL,
  MODULE_UNSAMPLED,
  MODULE_UNKNOWN,   /* the process was gone before anyone could read its maps */
  MODULE_OTHERS,    /* programs of the board that are not to be shipped */
  MODULE_TRUNCATED, /* these four stand at the root of stacks that are not complete */
  MODULE_NO_TABLE,
  MODULE_BAD_STACK,
  MODULE_OTHER_STACK,
  MODULE_FIXED_COUNT,
};

/* A file as a mapping names it, before anyone has opened it. */
struct module_file {
  struct span path; /* "[vdso]" and the like are pseudo modules; empty is anonymous memory */
  uint64_t inode;   /* 0: not known */
  uint64_t device;  /* mount_info.h's, of the mapping; 0: not known */
};

/* A file as it was found. */
struct module_found {
  struct span id;
  const char *path, *open_path; /* the latter opens it now */
  int fd; /* open on it, the caller's; -1 where the file system may stall, or there is no file */
};

/* Called for each file when it is identified, and again for each process in which that is done. */
typedef void modules_on_file(void *context, const struct module_found *found);

int modules_new(modules_on_file *on_file, void *context, struct modules **ret);
void modules_free(struct modules *modules);

/* Returns the index of FILE, making it when it is new; MODULE_ANON when the table is full. */
uint32_t modules_intern(struct modules *modules, const struct module_file *file);

/* Returns the index of a module that is known already, and whose addresses the caller knows: a
   piece of the kernel.  MODULE_KERNEL when the table is full. */
uint32_t modules_add_known(struct modules *modules, const char *name, struct span id);

/* Until it is called again: new modules are of the target ID, which may bring MODULES_OF_TARGET of
   them, and files are looked at in PAYER's turn only (borrowed).  NULL and 0: nobody's. */
void modules_set_payer(struct modules *modules, const struct toll *payer, uint32_t id);

/* Identifies INDEX as mapped by PID (0: nobody that still lives).  Returns the index to use from
   now on: the same (also when there was no time to look at the file now), or that of the identical
   file known before. */
uint32_t modules_identify(struct modules *modules, uint32_t index, pid_t pid);

/* A path that opened the file of INDEX when it was last identified; "" when there was none. */
const char *modules_open_path(const struct modules *modules, uint32_t index);

/* False while there was no time to look at the file of INDEX. */
bool modules_is_settled(const struct modules *modules, uint32_t index);

/* Returns the index of a module that is known by what somebody wrote down of it: no file need be
   there any more.  MODULE_ANON when the table is full. */
uint32_t modules_adopt(struct modules *modules, const struct batch_module *module);

/* The module as a batch says it; strings and id are borrowed until the next sweep. */
void modules_describe(const struct modules *modules, uint32_t index, struct batch_module *ret);

/* Where the file of INDEX has its segments, borrowed until the next sweep.  Returns false where no
   file is known: addresses in it are 0. */
bool modules_segments(const struct modules *modules, uint32_t index, const struct elf_segment **ret,
                      uint32_t *ret_count);

/* A and B were mapped under one name. */
bool modules_is_same_path(const struct modules *modules, uint32_t a, uint32_t b);

/* unload_hash of the first segment of INDEX's file; 0: not known. */
uint64_t modules_first_hash(const struct modules *modules, uint32_t index);
/* The file that was known by the name in PATH and has that hash; MODULE_NONE: there is none. */
uint32_t modules_find_image(const struct modules *modules, const char *path, uint64_t hash);

/* Everybody on this machine may read the file of INDEX, or it is the kernel's. */
bool modules_is_public(const struct modules *modules, uint32_t index);

/* The uid of who alone, root apart, can have written the file of INDEX, which is identified;
   MODULE_OWNER_UNSURE (elf/module_file.h). */
uint32_t modules_owner(const struct modules *modules, uint32_t index);

/* A frame of a timer's walk that ended for want of a table is in INDEX.  Any frame may have led it
   there, as code without a table is walked by frame pointers; it may have its table already. */
void modules_need(struct modules *modules, uint32_t index);
bool modules_is_needed(const struct modules *modules, uint32_t index);
/* Another number once a module is needed that was not. */
uint64_t modules_needs_serial(const struct modules *modules);

/* Sweep: unmark all, mark what is in use, forget the rest. */
bool modules_is_full(const struct modules *modules); /* time to sweep */
void modules_unmark(struct modules *modules);
void modules_mark(struct modules *modules, uint32_t index);
void modules_sweep(struct modules *modules);

#endif
