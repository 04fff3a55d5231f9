/* SPDX-License-Identifier: Apache-2.0 */
/* A subcommand is one row here and one file beside this one.  The usage is printed from the table,
   so that a command that exists is also one that is told of. */
#include "commands.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

struct command {
  const char *name;
  int (*function)(int argc, char **argv);
  const char *summary;
};

static const struct command commands[] = {
    {"run", run_main, "run a program under a sampler"},
    {"status", status_main, "what the daemons of this machine are doing"},
    {"doctor", doctor_main, "what this machine and kernel allow, and how to mend the rest"},
    {"enroll", enroll_main, "make this board known to a collector, once"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void print_usage(FILE *to) {
  fputs("usage: fleetprof COMMAND [OPTION]...\n\nCommands:\n", to);
  for (int i = 0; i < COMMAND_COUNT; i++)
    fprintf(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\nfleetprof COMMAND --help tells a command's options.\n"
        "\nEXAMPLES\n  fleetprof run -- redis-server\n  fleetprof status\n",
        to);
}

static bool is_one_of(const char *word, const char *name, const char *letter) {
  return strcmp(word, name) == 0 || strcmp(word, letter) == 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stderr);
    return EXIT_USAGE;
  }
  if (is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
    print_usage(stdout);
    return 0;
  }
  if (is_one_of(argv[1], "--version", "-V")) {
    puts("fleetprof " FLEETPROF_VERSION);
    return 0;
  }
  for (int i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(argv[1], commands[i].name) == 0) return commands[i].function(argc - 1, argv + 1);
  fprintf(stderr, "fleetprof: %.100s: no such command; fleetprof --help lists them\n", argv[1]);
  return EXIT_USAGE;
}
