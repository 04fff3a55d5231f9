/* SPDX-License-Identifier: Apache-2.0 */
/* The config file: `name = value` lines, read by inih. Debian's build of inih does not pass the
   line number to its handler, splits long lines, and takes an indented line for a continuation. So
   it reads through a reader here that counts lines and drops leading blanks. The reader rejects
   lines that are too long, contain a NUL byte or open a section.

   An unknown key is an error, not a warning: a misspelt limit that is silently ignored would be
   noticed too late. A key of another subcommand is skipped, because the subcommands of one program
   share its file. The first error is reported, with file and line. */
#include "options_source.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <string.h>

enum {
  FILE_LINES_MAX = 10000, /* a config file, not a data set */
  FILE_WHERE_MAX = 512,
};

struct file_reader {
  struct option_source *source;
  const char *path;
  FILE *stream;
  unsigned line;
  bool has_failed;
};

static char *stop(struct file_reader *reader, const char *why) {
  if (!reader->has_failed)
    option_refuse(reader->source, "%s:%u: %s", reader->path, reader->line, why);
  reader->has_failed = true;
  return NULL;
}

/* ini_reader: like fgets. */
static char *on_read(char *line, int room, void *context) {
  struct file_reader *reader = context;
  if (reader->has_failed || fgets(line, room, reader->stream) == NULL) return NULL;
  reader->line++;
  if (reader->line > FILE_LINES_MAX) return stop(reader, "too many lines");
  size_t len = strlen(line);
  if (len == 0 || (line[len - 1] != '\n' && !feof(reader->stream)))
    return stop(reader, "the line is longer than 198 bytes or holds a NUL byte");
  size_t blanks = strspn(line, " \t");
  memmove(line, line + blanks, len - blanks + 1);
  if (*line == '[') return stop(reader, "sections are not used here");
  return line;
}

static bool is_of_another(const struct option_table *table, const char *name) {
  const char *const *other = table->other_names;
  for (; other != NULL && *other != NULL; other++)
    if (strcmp(*other, name) == 0) return true;
  return false;
}

/* ini_handler: returns 0 on an error. */
static int on_pair(void *context, const char *section, const char *name, const char *value) {
  struct file_reader *reader = context;
  char where[FILE_WHERE_MAX];
  (void)section;
  if (reader->has_failed) return 0;
  snprintf(where, sizeof where, "%s:%u: %s", reader->path, reader->line, name);
  const struct option_table *table = reader->source->table;
  const struct option *row = option_find(table, name, strlen(name));
  if (row == NULL && is_of_another(table, name)) return 1;
  const char *kept = row ? option_keep(value, strlen(value)) : NULL;
  const char *nearest = row ? NULL : option_nearest(table, name);
  if (nearest != NULL)
    option_refuse(reader->source, "%s: unknown option; the nearest known one is '%s'", where,
                  nearest);
  else if (row == NULL)
    option_refuse(reader->source, "%s: unknown option; see --help", where);
  else if (kept == NULL)
    option_refuse(reader->source, "%s: out of memory", where);
  reader->has_failed = kept == NULL || option_set(reader->source, row, where, kept) != 0;
  return !reader->has_failed;
}

/* Closes STREAM. */
static int read_stream(struct option_source *source, const char *path, FILE *stream) {
  struct file_reader reader = {.source = source, .path = path, .stream = stream};
  errno = 0;
  int line = ini_parse_stream(on_read, &reader, on_pair, &reader);
  int failure = ferror(stream) ? errno : 0;
  fclose(stream);
  if (failure != 0) return option_refuse(source, "%s: %s", path, strerror(failure));
  if (reader.has_failed) return -EINVAL;
  if (line > 0) return option_refuse(source, "%s:%d: not a 'name = value' line", path, line);
  if (line < 0) return option_refuse(source, "%s: out of memory", path);
  return 0;
}

int option_read_file(struct option_source *source, const char *path) {
  FILE *stream = fopen(path, "re");
  if (stream == NULL) return option_refuse(source, "%s: %s", path, strerror(errno));
  return read_stream(source, path, stream);
}

void option_usual_file(const struct option_table *table, char ret_path[OPTION_FILE_MAX]) {
  size_t len = strcspn(table->usage, " ");
  bool is_subcommand = islower((unsigned char)table->usage[len + (table->usage[len] == ' ')]);
  *ret_path = '\0';
  if (is_subcommand && table->other_names == NULL) return;
  snprintf(ret_path, OPTION_FILE_MAX, "/etc/fleetprof/%.*s.conf", (int)len, table->usage);
}

int option_read_usual_file(struct option_source *source) {
  char path[OPTION_FILE_MAX];
  option_usual_file(source->table, path);
  if (*path == '\0') return 0;
  FILE *stream = fopen(path, "re");
  if (stream != NULL) return read_stream(source, path, stream);
  if (errno == ENOENT || errno == ENOTDIR) return 0;
  return option_refuse(source, "%s: %s", path, strerror(errno));
}
