/* SPDX-License-Identifier: Apache-2.0 */
#include "nursery_index.h"

#include "nursery.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int nursery_index(struct nursery *nursery, const struct worker_job *job, char *why,
                  size_t why_len) {
  struct nursery_result result;
  struct worker_job whole = *job;
  int index = memfd_create("symbol-index", MFD_CLOEXEC);
  if (index < 0) return -errno;
  whole.index = index;
  int error = nursery_run(nursery, &whole, &result);
  if (error == 0 && result.outcome == NURSERY_TIMED_OUT) {
    snprintf(why, why_len, "reading its file takes too long on this machine");
    error = -ETIMEDOUT;
  } else if (error == 0 && result.outcome != NURSERY_REPLIED) {
    snprintf(why, why_len, "reading its file ended the worker (signal %d)", result.signal);
    error = -EBADMSG;
  } else if (error == 0 && result.reply.status != 0) {
    snprintf(why, why_len, "%.*s", LIMIT_VALUE_BYTES, result.reply.reason);
    error = result.reply.status < 0 ? result.reply.status : -EBADMSG;
  }
  if (error == 0) {
    snprintf(why, why_len, "%.*s", LIMIT_VALUE_BYTES, result.reply.reason);
    return index;
  }
  close(index);
  return error;
}
