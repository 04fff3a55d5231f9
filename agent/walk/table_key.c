/* SPDX-License-Identifier: Apache-2.0 */
/* Anybody's file may say that it is libc, so a build-id alone would let whoever is seen first give
   everybody his rules:

     id               of a file that root alone can have written
     id | uid         of another

   Thus a user spoils nothing but what he owns.  The uid is real, and not that of /proc/PID, which
   is root's for each program that may not be dumped.  A file of a content's hash has a uid behind
   it, too: a build-id may look like any hash. */
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
