/* SPDX-License-Identifier: Apache-2.0 */
/* --help and --version, printed from the table, so that they match the parser. An option takes one
   or two lines: its forms, its description, then its default and its environment name. Rows of a
   group follow its heading. The three built-in options come last, unless the program has a group of
   the same name. */
#include "options_source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
  HELP_INDENT = 28, /* column of the explanation */
  HELP_WIDTH = 96,  /* narrower than the widest usual terminal; wider than 80 for long defaults */
  HELP_FORM_MAX = 160,
  HELP_NOTE_MAX = 160,
};

/* A row that uses the letter replaces the forms -h and -V. */
static bool has_letter(const struct option_table *table, char letter) {
  for (size_t i = 0; i < table->row_count; i++)
    if (table->rows[i].letter == letter) return true;
  return false;
}

/* Prints TEXT, wrapped at blanks, at HELP_INDENT. Returns the next column. */
static int print_wrapped(const char *text) {
  int column = HELP_INDENT;
  while (*text != '\0') {
    int len = (int)strcspn(text, " ");
    if (column + 1 + len > HELP_WIDTH && column > HELP_INDENT) {
      printf("\n%*s", HELP_INDENT, "");
      column = HELP_INDENT;
    }
    printf("%s%.*s", column > HELP_INDENT ? " " : "", len, text);
    column += len + (column > HELP_INDENT);
    text += len + (text[len] == ' ');
  }
  return column;
}

static void print_forms(const struct option *row) {
  char form[HELP_FORM_MAX];
  int len = row->letter ? snprintf(form, sizeof form, "  -%c, ", row->letter)
                        : snprintf(form, sizeof form, "      ");
  len += snprintf(form + len, sizeof form - (size_t)len, "--%.64s", row->name);
  if (row->argument)
    len += snprintf(form + len, sizeof form - (size_t)len, " %.96s", row->argument);
  if (len < HELP_INDENT)
    printf("%-*s", HELP_INDENT, form);
  else
    printf("%s\n%*s", form, HELP_INDENT, "");
}

/* Default and environment name stay together, on the same line if they fit. If the default is no
   value of the option, the help text itself describes it. */
static void print_note(const struct option *row, int column) {
  char note[HELP_NOTE_MAX], environment[OPTION_ENVIRONMENT_MAX];
  const char *fallback = row->fallback ? row->fallback : row->kind == OPTION_FLAG ? "no" : "none";
  option_environment_name(row->name, environment);
  bool is_told = row->fallback == NULL && row->help && strstr(row->help, "(default: ") != NULL;
  int len = is_told ? snprintf(note, sizeof note, "[%s]", environment)
                    : snprintf(note, sizeof note, "[%.64s] [%s]", fallback, environment);
  if (column + 1 + len > HELP_WIDTH && column > HELP_INDENT)
    printf("\n%*s%s", HELP_INDENT, "", note);
  else
    printf("%s%s", column > HELP_INDENT ? " " : "", note);
}

static void print_row(const struct option *row, bool has_environment) {
  print_forms(row);
  int column = print_wrapped(row->help ? row->help : "");
  if (has_environment) print_note(row, column);
  putchar('\n');
}

static void print_general(const struct option_table *table) {
  char usual[OPTION_FILE_MAX], text[HELP_NOTE_MAX + OPTION_FILE_MAX];
  option_usual_file(table, usual);
  snprintf(text, sizeof text, "read options from FILE, one 'name = value' a line%s%s%s",
           *usual ? "; without it from " : "", usual, *usual ? " if that exists" : "");
  if (*usual && option_find(table, "state", strlen("state")) != NULL)
    snprintf(text + strlen(text), sizeof text - strlen(text), " and --state is not given");
  const struct option config = {
      .name = "config", .argument = "FILE", .kind = OPTION_STRING, .help = text};
  const struct option help = {
      .name = "help", .letter = has_letter(table, 'h') ? '\0' : 'h', .help = "print this and exit"};
  const struct option version = {.name = "version",
                                 .letter = has_letter(table, 'V') ? '\0' : 'V',
                                 .help = "print the version and exit"};
  print_row(&config, true);
  print_row(&help, false);
  print_row(&version, false);
}

void option_print_help(const struct option_table *table) {
  static const char general[] = "General";
  bool is_general_printed = false;
  printf("Usage: %s\n", table->usage);
  if (table->summary) printf("%s\n", table->summary);
  printf("\nEach option is --name on the command line, 'name =' in the file, and an environment\n"
         "variable; the first of them wins.  In brackets: [default] [environment].\n");
  for (size_t i = 0; i < table->row_count; i++) {
    const char *group = table->rows[i].group ? table->rows[i].group : general;
    const char *before = i == 0                     ? ""
                         : table->rows[i - 1].group ? table->rows[i - 1].group
                                                    : general;
    if (strcmp(group, before) != 0) printf("\n%s:\n", group);
    print_row(&table->rows[i], true);
    bool is_last = i + 1 == table->row_count;
    if (strcmp(group, general) != 0 || is_general_printed) continue;
    if (!is_last && table->rows[i + 1].group && strcmp(table->rows[i + 1].group, general) == 0)
      continue;
    print_general(table);
    is_general_printed = true;
  }
  if (!is_general_printed) {
    printf("\n%s:\n", general);
    print_general(table);
  }
  if (table->epilogue) printf("\n%s\n", table->epilogue);
}

/* The program is the part of the usage before the first word that is no plain name. */
void option_print_version(const struct option_table *table) {
  const char *end = table->usage;
  for (const char *at = table->usage; islower((unsigned char)*at);) {
    end = at + strcspn(at, " ");
    at = end + strspn(end, " ");
  }
  printf("%.*s %s\n", (int)(end - table->usage), table->usage, FLEETPROF_VERSION);
}
