/* SPDX-License-Identifier: Apache-2.0 */
/* The loader of a program reads LD_PRELOAD. A static program has none, and a program of another
   word size or CPU cannot load the agent. In a privileged one (AT_SECURE) the loader ignores the
   variable. The agent is built like the calling program, so the caller's own file shows which
   programs fit.

   Before an exec only the file's mode is known. A running process's auxiliary vector, if readable,
   shows the kernel's decision. A process with an unreadable program is privileged, or its file may
   be executed but not read. In the latter case the agent does load, so this is checked only if no
   agent has registered.

   A file system mounted nosuid gives no privileges, and for root a capability adds none. */
#include "preload_obstacle.h"
#include "regular_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
  SCRIPTS_MAX = 4, /* a script's interpreter may be a script; the kernel's limit */
  LINE_BYTES = 256,
  AUXV_ENTRIES_MAX = 64,
  PROC_PATH_BYTES = 32,
  MAPS_LINE_BYTES = 4352, /* a path of 4096 and the fields before it */
  MAPS_LINES_MAX = 65536,
};

static const char privileged[] =
    "privileged (setuid, setgid or file capabilities): cannot be preloaded";

const char *preload_obstacle_of_notes(const struct elf_notes *notes, const struct elf_notes *own) {
  if (notes->is_static) return "static: cannot be preloaded";
  if (notes->is_64 && !own->is_64) return "64-bit: a 32-bit agent cannot be preloaded";
  if (!notes->is_64 && own->is_64) return "32-bit: a 64-bit agent cannot be preloaded";
  if (notes->machine != own->machine) return "built for another CPU: cannot be preloaded";
  return NULL;
}

static const char *of_image(int fd) {
  struct stat found;
  struct elf_notes notes, own;
  int own_fd = regular_file_open("/proc/self/exe", &found);
  bool is_known = own_fd >= 0 && elf_notes_read(elf_read_fd, &own_fd, &own) == 0 &&
                  elf_notes_read(elf_read_fd, &fd, &notes) == 0;
  if (own_fd >= 0) close(own_fd);
  return is_known ? preload_obstacle_of_notes(&notes, &own) : NULL;
}

/* True if an exec of FD by this process changes its ids, or gives it capabilities. */
static bool gives_rights(int fd, const struct stat *found) {
  struct statvfs mount;
  if (fstatvfs(fd, &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0) return false;
  if ((found->st_mode & S_ISUID) != 0 && found->st_uid != getuid()) return true;
  bool is_setgid = (found->st_mode & S_ISGID) != 0 && (found->st_mode & S_IXGRP) != 0;
  if (is_setgid && found->st_gid != getgid()) return true;
  return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Sets PATH, of LINE_BYTES, to the interpreter of the script behind FD. */
static bool find_interpreter(int fd, char path[LINE_BYTES]) {
  char line[LINE_BYTES];
  ssize_t got = pread(fd, line, sizeof line - 1, 0);
  if (got < 2 || line[0] != '#' || line[1] != '!') return false;
  line[got] = '\0';
  const char *start = line + 2 + strspn(line + 2, " \t");
  size_t len = strcspn(start, " \t\n");
  memcpy(path, start, len);
  path[len] = '\0';
  return len > 0;
}

const char *preload_obstacle_of_file(const char *path) {
  char interpreter[LINE_BYTES];
  for (unsigned i = 0; i <= SCRIPTS_MAX; i++) {
    struct stat found;
    int fd = regular_file_open(path, &found);
    if (fd < 0) return NULL;
    bool is_script = find_interpreter(fd, interpreter);
    const char *obstacle = is_script ? NULL : of_image(fd);
    if (!is_script && obstacle == NULL && gives_rights(fd, &found)) obstacle = privileged;
    close(fd);
    if (!is_script) return obstacle;
    path = interpreter;
  }
  return NULL;
}

/* The AT_SECURE value of PID. */
static bool is_secure(pid_t pid) {
  char path[PROC_PATH_BYTES];
  unsigned long words[2 * AUXV_ENTRIES_MAX];
  snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t got = read(fd, words, sizeof words);
  close(fd);
  size_t count = got > 0 ? (size_t)got / sizeof *words / 2 : 0;
  for (size_t i = 0; i < count; i++)
    if (words[2 * i] == AT_SECURE) return words[2 * i + 1] != 0;
  return false;
}

const char *preload_obstacle_of_process(pid_t pid) {
  char path[PROC_PATH_BYTES];
  struct stat found;
  snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
  int fd = regular_file_open(path, &found);
  if (fd == -EACCES || fd == -EPERM) return "privileged or unreadable: cannot be preloaded";
  if (fd < 0) return NULL;
  const char *obstacle = of_image(fd);
  close(fd);
  if (obstacle == NULL && is_secure(pid)) obstacle = privileged;
  return obstacle;
}

/* Returns 1 if the agent is mapped in PID, 0 if not, -1 if this is unreadable. */
static int has_agent(pid_t pid) {
  char path[PROC_PATH_BYTES], line[MAPS_LINE_BYTES];
  int found = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return -1;
  for (unsigned i = 0; !found && i < MAPS_LINES_MAX && fgets(line, sizeof line, maps); i++)
    found = strstr(line, "/libfleetprof.so") != NULL;
  if (ferror(maps)) found = -1;
  fclose(maps);
  return found;
}

const char *preload_explain_silence(pid_t pid) {
  switch (has_agent(pid)) {
  case 1:
    return "its agent got no answer in time: the daemon was busy";
  case 0:
    return "no agent came up in the program: its environment was cleared";
  default:
    return "no agent came up in the program";
  }
}
