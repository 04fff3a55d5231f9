/* SPDX-License-Identifier: Apache-2.0 */
/* One function a subcommand.  Each gets the words from its own name on (argv[0] is "run"), prints
   its own --help, and returns the exit status: 0 done, 1 failed, 2 wrong usage, 3 a threshold was
   exceeded. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/* The options of all subcommands, NULL at the end: their common config file may hold each. */
extern const char *const commands_option_names[];

/* Starts a program under a sampler and exits with the program's own status. */
int run_main(int argc, char **argv);

/* Shows what `run --output` wrote. */
int report_main(int argc, char **argv);

/* Writes the names of their functions into such files. */
int name_main(int argc, char **argv);

/* Answers addresses with the functions of a list of symbols. */
int translate_main(int argc, char **argv);

/* Sends debug files to the collector. */
int upload_main(int argc, char **argv);

/* Enrols this board with a collector: key, request, certificate. */
int enroll_main(int argc, char **argv);

/* Asks the collector where the time went. */
int query_main(int argc, char **argv);

/* Compares two selections of the collector's samples. */
int diff_main(int argc, char **argv);

/* Prints what the daemons of this machine say of themselves. */
int status_main(int argc, char **argv);

/* Pauses, resumes, or sets the rate of running targets. */
int ctl_main(int argc, char **argv);

/* Tries what this machine and kernel allow, and says how to mend what they do not. */
int doctor_main(int argc, char **argv);

#endif
