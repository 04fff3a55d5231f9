/* SPDX-License-Identifier: Apache-2.0 */
/* One run of `fleetprof upload`, from what was asked for to what became of it. */
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
  struct bundler *bundler; /* NULL: sources stay */
  struct progress progress;
  uint32_t at; /* the next file of the plan; files come in the order they were found in */
  uint64_t resumed_bytes;
  bool is_unseen; /* no board has used any of it */
  uint32_t sent, failed, passed_over, unowned_lists, unowned_splits;
};

/* Goes through all that was asked for.  Returns 0, or -errno after a complaint. */
int upload_find(struct upload *upload);

/* Sends what is planned.  Returns 0, also when some of it was refused, which is counted; or -EACCES
   or -ECONNREFUSED when there is no use in going on; after complaints. */
int upload_send(struct upload *upload);

#endif
