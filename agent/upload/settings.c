/* SPDX-License-Identifier: Apache-2.0 */
/* For other commands --collector is the boards' address, and a shared config file may set it.  So
   here it is accepted only on the command line, as a synonym of --http. */
#include "settings.h"

#include "cli/commands.h"
#include "cli/complaint.h"
#include "cli/word_order.h"
#include "common/output_form.h"
#include "file_name.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum { ERROR_BYTES = 512 };

#define OFFSET(field) offsetof(struct settings, field)

static const struct option rows[] = {
    {"require-all", 0, NULL, NULL, "What is sent",
     "exit 3 and list them when programs, libraries or kernel modules among PATH cannot be named: "
     "neither PATH nor what was uploaded before has their symbols, or the collector cannot read "
     "them",
     OPTION_FLAG, OFFSET(must_name_all)},
    {"dry-run", 'n', NULL, NULL, "What is sent", "say what would be sent; ask no collector",
     OPTION_FLAG, OFFSET(is_dry_run)},
    {"build-id", 0, "ID", NULL, "What is sent",
     "whose list of symbols (System.map, nm) or split debug information (.dwo, .dwp) PATH is, when "
     "it "
     "does not say",
     OPTION_STRING, OFFSET(build_id_text)},
    {"verbose", 'v', NULL, NULL, "What is sent", "name each file and what becomes of it",
     OPTION_FLAG, OFFSET(is_verbose)},
    OUTPUT_FORM_ROW("What is sent", struct settings, format),
    {"sources", 0, "FOLDER", NULL, "Sources",
     "also send the sources that debug information names, where they lie below FOLDER; may be "
     "given "
     "many times",
     OPTION_LIST, OFFSET(source_folders)},
    {"source-map", 0, "FROM=FOLDER", NULL, "Sources",
     "also send them where their paths begin with FROM (. for none) and go on below FOLDER; may be "
     "given many times",
     OPTION_LIST, OFFSET(source_maps)},
    API_OPTION_ROWS(struct settings, api),
    {"collector", 0, "URL", NULL, API_GROUP, "the same as --http, on the command line only",
     OPTION_STRING, OFFSET(collector)},
};

static const struct option_table table = {
    .usage = "fleetprof upload [OPTION]... PATH...",
    .summary =
        "Sends the collector what names the functions of programs: debug files, programs with\n"
        "symbols, kernel modules, lists of symbols; from files, folders, and archives of firmware\n"
        "images and their debug files (tar, cpio, deb, ipk, rpm; gz, xz, zst, bz2).  What the\n"
        "collector has is not sent again; an upload that was broken off goes on.",
    .epilogue = "EXAMPLES\n"
                "  fleetprof upload build/\n"
                "  fleetprof upload --require-all image.rootfs.tar.zst image-dbg.rootfs.tar.zst\n"
                "  fleetprof upload --build-id 5f3a... System.map\n"
                "  fleetprof upload --sources src build/\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .other_names = commands_option_names,
};

static int check(struct settings *settings) {
  if (settings->path_count == 0) {
    complaint("upload: no PATH; which files or folders?  'fleetprof upload --help' tells more");
    return -EINVAL;
  }
  if (settings->build_id_text == NULL) return 0;
  const char *text = settings->build_id_text;
  settings->build_id_len =
      file_name_parse_id(text, strlen(text), settings->build_id, sizeof settings->build_id);
  if (settings->build_id_len > 0) return 0;
  complaint("upload: --build-id: '%.200s' is not an even number of hexadecimal digits", text);
  return -EINVAL;
}

int settings_read(int argc, char **argv, struct settings *ret) {
  struct settings settings = {.paths = NULL};
  struct options_result result;
  char error[ERROR_BYTES];
  argc = word_order_sort(&table, argc, argv);
  if (argc < 0) return argc;
  int failed = options_parse(&table, argc, argv, &settings, &result, error, sizeof error);
  if (failed == 0 && !result.is_done)
    failed = output_form_parse(argc, argv, settings.format, &settings.is_json, error, sizeof error);
  if (failed) complaint("upload: %s", error);
  if (failed) return failed;
  if (result.is_done) return 1;
  if (settings.collector != NULL && options_is_on_line(argc, argv, settings.collector))
    settings.api.http = settings.collector;
  settings.paths = argv + result.first_positional;
  settings.path_count = argc - result.first_positional;
  failed = check(&settings);
  if (failed == 0) *ret = settings;
  return failed;
}
