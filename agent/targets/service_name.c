/* SPDX-License-Identifier: Apache-2.0 */
/* A user who starts redis-server, python3 or ./job.sh looks for a service of that name. The kernel
   maps another file if the name is a symbolic link or a script. Examples are redis-check-rdb in
   Debian, python3.11, busybox for each of its commands, and a script's interpreter. The kernel
   keeps the name from the exec as the thread's name, but only 15 bytes. A longer name is completed
   from the file's name or from the name that `run` got, if it begins alike.

   An exec by descriptor has no name: the kernel then uses the descriptor's number (fexecve, and
   execveat before Linux 6.14), and the file's name is used.

   A name that a program sets later is not its service. The name is recorded at the exec, or when
   the agent registers, before main. For a program that started earlier the file's name is used. */
#include "service_name.h"
#include "process_entry.h"

#include "common/path.h"
#include "keeper/hold.h"

#include <string.h>

/* True if FULL is a name that the kernel truncated to SHORT_NAME. */
static bool is_name_of(const char *full, const char *short_name) {
  size_t len = strlen(short_name);
  return strncmp(full, short_name, PROC_COMM_BYTES - 1) == 0 &&
         (len == PROC_COMM_BYTES - 1 || full[len] == '\0');
}

/* Only digits: the name after an exec of /proc/self/fd/3 or of a descriptor. */
static bool is_descriptor(const char *name) {
  return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

const char *service_name(const struct hold_target *held, const struct process *process) {
  if (held->service[0] != '\0') return held->service;
  const char *asked = path_name(held->exe);
  if (process == NULL) return asked;
  const char *file = process->exe != NULL ? path_name(process->exe) : "";
  if (process->begun_as[0] == '\0' || is_descriptor(process->begun_as))
    return file[0] != '\0' ? file : process->comm;
  if (is_name_of(file, process->begun_as)) return file;
  return is_name_of(asked, process->begun_as) ? asked : process->begun_as;
}
