/* SPDX-License-Identifier: Apache-2.0 */
/* Four sources fill the settings, weakest first: defaults, environment, file, command line. Each
   overwrites the previous one, which gives the precedence without further state. The file's name
   comes from the command line or the environment, so argv is read twice: first for --help,
   --version and --config (and to reject unknown options before anything is read), then for the
   rows. The usual file in /etc is not read if the command line has a --state: many boards can share
   one machine, and the file describes none of them.

   getopt_long is not used: it reorders words, accepts abbreviations that a later option makes
   ambiguous, and prints its own messages. Here everything follows from the table. Values are in
   options_value.c, the file in options_file.c, --help in options_help.c. */
#include "options.h"
#include "near_word.h"
#include "options_source.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const builtin_names[] = {"config", "help", "version"};
enum { BUILTIN_CONFIG, BUILTIN_HELP, BUILTIN_VERSION, BUILTIN_COUNT };

/* One parsed option word of the command line. */
struct word {
  const struct option *row; /* NULL: built in */
  int builtin;
  const char *value; /* NULL for a flag without one */
  char where[OPTION_NAME_MAX + 8];
};

/* The choice of a config file. */
struct file_choice {
  const char *given; /* by --config or FLEETPROF_CONFIG, or NULL */
  bool has_state;    /* --state is on the command line, and is not a usual one */
};

struct walk {
  struct option_source *source;
  int argc;
  char *const *argv;
  int at;
};

/* Begins the next, stronger source. */
static void begin_source(struct option_source *source) {
  memset(source->is_filled, 0, sizeof source->is_filled);
}

const struct option *option_find(const struct option_table *table, const char *name, size_t len) {
  for (size_t i = 0; i < table->row_count; i++)
    if (strlen(table->rows[i].name) == len && memcmp(table->rows[i].name, name, len) == 0)
      return &table->rows[i];
  return NULL;
}

const char *option_nearest(const struct option_table *table, const char *word) {
  struct near_word near = {.word = word};
  for (size_t i = 0; i < table->row_count; i++) near_word_offer(&near, table->rows[i].name);
  for (size_t i = 0; i < BUILTIN_COUNT; i++) near_word_offer(&near, builtin_names[i]);
  return near_word_found(&near);
}

void option_environment_name(const char *name, char text[OPTION_ENVIRONMENT_MAX]) {
  static const char prefix[] = "FLEETPROF_";
  size_t len = strnlen(name, OPTION_NAME_MAX);
  memcpy(text, prefix, sizeof prefix - 1);
  for (size_t i = 0; i < len; i++)
    text[sizeof prefix - 1 + i] = (char)(name[i] == '-' ? '_' : toupper((unsigned char)name[i]));
  text[sizeof prefix - 1 + len] = '\0';
}

static int fill_defaults(struct option_source *source) {
  for (size_t i = 0; i < source->table->row_count; i++) {
    const struct option *row = &source->table->rows[i];
    int error = row->fallback ? option_set(source, row, row->name, row->fallback) : 0;
    if (error != 0) return error;
  }
  return 0;
}

/* A list in the environment is split at ';' and newlines: commas may be part of a value. */
/* If TEXT contains a newline, newlines separate the items: a list passed on to a program ends with
   one, and its items may then contain a ';'. */
static int fill_list(struct option_source *source, const struct option *row, const char *where,
                     const char *text) {
  const char *ends = strchr(text, '\n') != NULL ? "\n" : ";";
  while (*text != '\0') {
    size_t len = strcspn(text, ends);
    const char *item = option_keep(text, len);
    if (item == NULL) return option_refuse(source, "%s: out of memory", where);
    int error = len > 0 ? option_set(source, row, where, item) : 0;
    if (error != 0) return error;
    text += len + (text[len] != '\0');
  }
  return 0;
}

/* An empty variable counts as unset, so that a wrapper can clear one. */
static int fill_environment(struct option_source *source) {
  char name[OPTION_ENVIRONMENT_MAX];
  for (size_t i = 0; i < source->table->row_count; i++) {
    const struct option *row = &source->table->rows[i];
    option_environment_name(row->name, name);
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') continue;
    int error = row->kind == OPTION_LIST ? fill_list(source, row, name, text)
                                         : option_set(source, row, name, text);
    if (error != 0) return error;
  }
  return 0;
}

/* Finds the meaning of the option word TEXT (without its value). */
static int find_letter(struct walk *walk, char letter, struct word *word) {
  const struct option_table *table = walk->source->table;
  snprintf(word->where, sizeof word->where, "-%c", letter);
  for (size_t i = 0; i < table->row_count; i++)
    if (table->rows[i].letter == letter) word->row = &table->rows[i];
  word->builtin = letter == 'h' ? BUILTIN_HELP : letter == 'V' ? BUILTIN_VERSION : BUILTIN_COUNT;
  if (word->row == NULL && word->builtin == BUILTIN_COUNT)
    return option_refuse(walk->source, "-%c: unknown option; see --help", letter);
  return 0;
}

static int find_name(struct walk *walk, const char *name, size_t len, struct word *word) {
  snprintf(word->where, sizeof word->where, "--%.*s", (int)(len < OPTION_NAME_MAX ? len : 64),
           name);
  word->row = option_find(walk->source->table, name, len);
  for (word->builtin = 0; word->builtin < BUILTIN_COUNT; word->builtin++) {
    const char *builtin = builtin_names[word->builtin];
    if (strlen(builtin) == len && memcmp(builtin, name, len) == 0) break;
  }
  if (word->row != NULL || word->builtin != BUILTIN_COUNT) return 0;
  const char *nearest = option_nearest(walk->source->table, word->where + 2);
  return option_refuse(walk->source, "%s: unknown option; %s%s", word->where,
                       nearest ? "the nearest known one is --" : "see --help",
                       nearest ? nearest : "");
}

/* Takes the value after '=' or the letter (GIVEN), or the next word. */
static int take_value(struct walk *walk, const char *given, struct word *word) {
  bool is_flag = word->row ? word->row->kind == OPTION_FLAG : word->builtin != BUILTIN_CONFIG;
  const char *argument = word->row ? word->row->argument : "FILE";
  word->value = given;
  if (is_flag || given != NULL) {
    if (given != NULL && word->row == NULL && is_flag)
      return option_refuse(walk->source, "%s: takes no value", word->where);
    return 0;
  }
  if (walk->at >= walk->argc)
    return option_refuse(walk->source, "%s: needs a value: %s", word->where,
                         argument ? argument : "VALUE");
  const char *next = walk->argv[walk->at];
  if (strncmp(next, "--", 2) == 0)
    return option_refuse(walk->source, "%s: needs a value: %s (for one like '%s' write %s=%s)",
                         word->where, argument ? argument : "VALUE", next, word->where, next);
  walk->at++;
  word->value = next;
  return 0;
}

/* Takes one option from the command line. Returns 1, 0 if there are no more options, or -EINVAL. */
static int next_word(struct walk *walk, struct word *word) {
  *word = (struct word){.builtin = BUILTIN_COUNT};
  if (walk->at >= walk->argc) return 0;
  const char *text = walk->argv[walk->at];
  if (text[0] != '-' || text[1] == '\0') return 0;
  walk->at++;
  if (strcmp(text, "--") == 0) return 0;
  const char *given = NULL;
  int error;
  if (text[1] == '-') {
    size_t len = strcspn(text + 2, "=");
    given = text[2 + len] == '=' ? text + 2 + len + 1 : NULL;
    error = find_name(walk, text + 2, len, word);
  } else {
    error = find_letter(walk, text[1], word);
    given = text[2] != '\0' ? text + 2 : NULL;
    if (given && *given == '=') given++;
  }
  if (error == 0) error = take_value(walk, given, word);
  return error == 0 ? 1 : error;
}

static bool is_usual_state(const struct option_table *table, const char *dir) {
  return table->is_usual_state != NULL && *dir != '\0' && table->is_usual_state(dir);
}

/* The first pass: prints help or version, or finds the file. */
static int walk_builtins(struct walk walk, struct file_choice *ret_file, bool *ret_is_done) {
  struct word word;
  int got;
  while ((got = next_word(&walk, &word)) > 0) {
    if (word.row != NULL) {
      if (strcmp(word.row->name, "state") == 0)
        ret_file->has_state = !is_usual_state(walk.source->table, word.value);
      continue;
    }
    if (word.builtin == BUILTIN_CONFIG) {
      ret_file->given = word.value;
      continue;
    }
    if (word.builtin == BUILTIN_HELP)
      option_print_help(walk.source->table);
    else
      option_print_version(walk.source->table);
    *ret_is_done = true;
    return 0;
  }
  return got;
}

static int walk_rows(struct walk *walk) {
  struct word word;
  int got;
  while ((got = next_word(walk, &word)) > 0) {
    if (word.row == NULL) continue;
    const char *text = word.value ? word.value : "yes"; /* only flags have no value */
    int error = option_set(walk->source, word.row, word.where, text);
    if (error != 0) return error;
  }
  return got;
}

/* Fills the settings from all sources, the weakest first. */
static int fill(struct walk *walk, const struct file_choice *file) {
  struct option_source *source = walk->source;
  int error = fill_defaults(source);
  begin_source(source);
  if (error == 0) error = fill_environment(source);
  begin_source(source);
  if (error == 0 && file->given == NULL && !file->has_state) error = option_read_usual_file(source);
  if (error == 0 && file->given && *file->given) error = option_read_file(source, file->given);
  begin_source(source);
  return error == 0 ? walk_rows(walk) : error;
}

int options_parse(const struct option_table *table, int argc, char *const argv[], void *settings,
                  struct options_result *ret, char *error, size_t error_len) {
  struct option_source source = {
      .table = table, .settings = settings, .error = error, .error_len = error_len};
  struct walk walk = {.source = &source, .argc = argc, .argv = argv, .at = 1};
  struct options_result result = {0};
  const char *given = getenv("FLEETPROF_CONFIG");
  struct file_choice file = {.given = given && *given ? given : NULL};
  assert(table->row_count <= OPTION_ROWS_MAX);
  int failure = walk_builtins(walk, &file, &result.is_done);
  if (failure == 0 && !result.is_done) failure = fill(&walk, &file);
  if (failure != 0) return failure;
  result.first_positional = walk.at;
  *ret = result;
  return 0;
}

bool options_is_on_line(int argc, char *const argv[], const char *value) {
  for (int i = 1; i < argc; i++)
    for (const char *at = argv[i]; *at != '\0'; at++)
      if (at == value) return true;
  return false;
}
