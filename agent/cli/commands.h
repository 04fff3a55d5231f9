/* SPDX-License-Identifier: Apache-2.0 */
/* One function per subcommand.  Its argv[0] is the subcommand's name.  It prints its own --help,
   and returns the exit status: 0 done, 1 failed, 2 wrong usage, 3 a threshold was exceeded. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/* The options of all subcommands, which their common config file may contain.  NULL ends the
   list. */
extern const char *const commands_option_names[];

/* Starts a program under a sampler and exits with the program's own status. */
int run_main(int argc, char **argv);

/* Shows a profile that `run --output` wrote. */
int report_main(int argc, char **argv);

/* Writes function names into profile files. */
int name_main(int argc, char **argv);

/* Translates addresses to functions with a symbol list. */
int translate_main(int argc, char **argv);

/* Sends debug files to the collector. */
int upload_main(int argc, char **argv);

/* Enrols this board with a collector: key, request, certificate. */
int enroll_main(int argc, char **argv);

/* Queries the collector's profiles. */
int query_main(int argc, char **argv);

/* Compares two selections of the collector's samples. */
int diff_main(int argc, char **argv);

/* Prints the status of this machine's daemons. */
int status_main(int argc, char **argv);

/* Pauses, resumes, or sets the rate of running targets. */
int ctl_main(int argc, char **argv);

/* Checks this machine and its kernel, and prints how to fix each problem. */
int doctor_main(int argc, char **argv);

#endif
