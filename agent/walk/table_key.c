/* SPDX-License-Identifier: Apache-2.0 */
/* Any user's file may carry libc's build ID. With the build ID alone as key, the first file seen
   would impose its rules on all users:

     id               of a file that only root can have written
     id | uid         of any other file

   So a user can only spoil tables of his own files. The uid is the real one, not the owner of
   /proc/PID, which is root for every program that may not be dumped. A file identified by a content
   hash also has a uid after it: a build ID may look like any hash. */
#include "table_key.h"

#include "elf/module_file.h"
#include "proc/proc_status.h"

#include <string.h>

uint32_t table_key_owner(uint32_t owner, pid_t pid) {
  struct proc_status status;
  if (owner != MODULE_OWNER_UNSURE) return owner;
  return pid > 0 && proc_status_read(pid, pid, &status) == 0 ? status.uid : MODULE_OWNER_UNSURE;
}

uint32_t table_key(struct span id, uint32_t owner, uint8_t ret[LIMIT_MODULE_ID_BYTES]) {
  size_t tail = owner != 0 ? sizeof owner : 0;
  if (owner == MODULE_OWNER_UNSURE || id.len == 0 || id.len > LIMIT_MODULE_ID_BYTES - tail)
    return 0;
  memcpy(ret, id.data, id.len);
  memcpy(ret + id.len, &owner, tail);
  return (uint32_t)(id.len + tail);
}
