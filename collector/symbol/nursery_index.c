/* SPDX-License-Identifier: Apache-2.0 */
#include "nursery_index.h"

#include "nursery.h"
#include "proto/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void print_no_answer(char *why, size_t why_len, const char *cause) {
  snprintf(why, why_len,
           "lib/fleetprof/fleetprof-symbols does not answer (%s): start it by hand to see why",
           cause);
}

int nursery_index(struct nursery *nursery, const struct worker_job *job, char *why,
                  size_t why_len) {
  struct nursery_result result;
  struct worker_job whole = *job;
  int index = memfd_create("symbol-index", MFD_CLOEXEC);
  if (index < 0) return -errno;
  whole.index = index;
  int error = nursery_run(nursery, &whole, &result);
  bool is_busy = error == -ECANCELED || error == -EBUSY || error == -ETIMEDOUT;
  if (error != 0 && !is_busy) {
    print_no_answer(why, why_len, strerror(-error));
  } else if (error == 0 && result.outcome == NURSERY_TIMED_OUT) {
    snprintf(why, why_len, "reading its file takes too long on this machine");
    error = -ETIMEDOUT;
  } else if (error == 0 && result.outcome == NURSERY_KILLED && result.signal == 0) {
    print_no_answer(why, why_len, "it ended");
    error = -EBADMSG;
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
