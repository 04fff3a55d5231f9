/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand is one row here and one file in this folder.  The usage is printed from the table,
   so every command appears in --help.  Options follow the command.  Only --config is accepted
   before it too, because every command has it. */
#include "commands.h"
#include "common/near_word.h"
#include "complaint.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_USAGE = 2, WORD_BYTES = 100 };

struct command {
  const char *name;
  int (*function)(int argc, char **argv);
  const char *summary;
};

static const struct command commands[] = {
    {"run", run_main, "run a program under a sampler"},
    {"report", report_main, "show the profiles that run --output wrote"},
    {"name", name_main, "write the names of this machine into such a profile, for others"},
    {"translate", translate_main, "answer addresses with the functions of a list of symbols"},
    {"upload", upload_main, "send debug files and firmware images to the collector, for names"},
    {"query", query_main, "ask the collector where the time went"},
    {"diff", diff_main, "compare two selections of the collector's samples"},
    {"status", status_main, "what the daemons of this machine are doing"},
    {"ctl", ctl_main, "pause, resume or slow down the targets of this board"},
    {"doctor", doctor_main, "what this machine and kernel allow, and how to mend the rest"},
    {"enroll", enroll_main, "make this board known to a collector, once"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(void) {
  fputs("usage: fleetprof COMMAND [OPTION]...\n\nCommands:\n", stdout);
  for (int i = 0; i < COMMAND_COUNT; i++)
    printf("  %-9s %s\n", commands[i].name, commands[i].summary);
  puts("\nfleetprof COMMAND --help tells a command's options.  All of them read\n"
       "/etc/fleetprof/fleetprof.conf unless --config or --state is given.\n"
       "\nEXAMPLES\n  fleetprof run -- redis-server\n  fleetprof status");
}

static bool is_one_of(const char *word, const char *name, const char *letter) {
  return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

static int refuse(const char *word, const char *why) {
  complaint("%.*s: %s", WORD_BYTES, *word ? word : "''", why);
  return EXIT_USAGE;
}

static int refuse_command(const char *word) {
  char why[WORD_BYTES];
  struct near_word near = {.word = word};
  for (int i = 0; i < COMMAND_COUNT; i++) near_word_offer(&near, commands[i].name);
  const char *nearest = near_word_found(&near);
  if (nearest == NULL) return refuse(word, "no such command; fleetprof --help lists them");
  snprintf(why, sizeof why, "no such command; the nearest is `fleetprof %s`", nearest);
  return refuse(word, why);
}

/* Moves a leading --config behind the command. */
static void move_config(int argc, char **argv) {
  int words = strcmp(argv[1], "--config") == 0 ? 2 : strncmp(argv[1], "--config=", 9) == 0 ? 1 : 0;
  if (words == 0 || argc <= 1 + words || argv[1 + words][0] == '-') return;
  char *command = argv[1 + words];
  for (int i = words; i > 0; i--) argv[i + 1] = argv[i];
  argv[1] = command;
}

int main(int argc, char **argv) {
  if (argc < 2) return refuse("no command", "which one?  fleetprof --help lists them");
  move_config(argc, argv);
  if (is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
    print_usage();
    return 0;
  }
  if (is_one_of(argv[1], "--version", "-V")) {
    puts("fleetprof " FLEETPROF_VERSION);
    return 0;
  }
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].function(argc - 1, argv + 1);
  if (strncmp(argv[1], "--config", 8) == 0)
    return refuse(argv[1], "needs a file and a command: fleetprof COMMAND --config FILE");
  if (argv[1][0] == '-')
    return refuse(argv[1], "options follow a command: fleetprof COMMAND [OPTION]...; see --help");
  return refuse_command(argv[1]);
}
