/* SPDX-License-Identifier: Apache-2.0 */
/* Who starts redis-server, python3 or ./job.sh looks for a service of that name.  The file that the
   kernel maps is another one where the name is a symbolic link's (redis-check-rdb in Debian,
   python3.11, busybox for each of its commands) or a script's (its interpreter).  The kernel keeps
   the name that an exec was asked for, as the thread's, but only 15 bytes of it: so a longer one
   is taken from where it is whole, the file's name or what `run` was told, if that begins alike.

   An exec by descriptor has no name: the kernel's is the descriptor's number then (fexecve, and the
   execveat of kernels before 6.14), and the file's stands.

   What a program calls itself later is no service's name: it is kept from the moment of the exec,
   or from when the agent registers, before main.  Of a program that was not seen to begin the
   file's name stands. */
#include "service_name.h"
#include "process_entry.h"

#include "common/path.h"
#include "keeper/hold.h"

#include <string.h>

/* FULL is a name of which the kernel kept SHORT_NAME. */
static bool is_name_of(const char *full, const char *short_name) {
  size_t len = strlen(short_name);
  return strncmp(full, short_name, PROC_COMM_BYTES - 1) == 0 &&
         (len == PROC_COMM_BYTES - 1 || full[len] == '\0');
}

/* Digits alone: what an exec of /proc/self/fd/3 or of a descriptor is called. */
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
