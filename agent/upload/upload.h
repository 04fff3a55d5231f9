/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one run of `fleetprof upload`. */
#ifndef UPLOAD_UPLOAD_H
#define UPLOAD_UPLOAD_H

#include "bundler.h"
#include "cli/api_client.h"
#include "plan.h"
#include "progress.h"
#include "settings.h"

struct upload {
  struct settings settings;
  struct found found;
  struct known_file *known;
  size_t known_count;
  struct plan plan;
  struct api api;
  struct bundler *bundler; /* NULL: sources are not uploaded */
  struct progress progress;
  uint32_t at; /* the next file of the plan; files arrive in the order they were found */
  uint64_t resumed_bytes;
  bool is_unseen; /* no board has used any of it */
  uint32_t sent, failed, passed_over, unowned_lists, unowned_splits;
};

/* Searches the given paths.  Returns 0, or -errno after an error message. */
int upload_find(struct upload *upload);

/* Sends the planned files.  Returns 0, also if some were rejected, which is counted.  Returns
   -EACCES or -ECONNREFUSED if further sends are pointless.  Errors are printed. */
int upload_send(struct upload *upload);

#endif
