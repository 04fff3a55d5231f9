/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of `fleetprof upload`, checked. */
#ifndef UPLOAD_SETTINGS_H
#define UPLOAD_SETTINGS_H

#include "cli/api_client.h"
#include "common/options.h"
#include "common/span.h"
#include "proto/limits.h"

#include <stdbool.h>

struct settings {
  struct api_options api;
  const char *collector, *build_id_text, *format;
  uint8_t build_id[LIMIT_MODULE_ID_BYTES];
  size_t build_id_len; /* 0: not given */
  bool must_name_all, is_dry_run, is_verbose, is_json;
  struct option_list source_folders, source_maps;
  char **paths; /* NULL ends the list */
  int path_count;
};

/* Fills in RET.  Returns 0; 1 if --help or --version was printed; or -EINVAL after an error
   message. */
int settings_read(int argc, char **argv, struct settings *ret);

#endif
