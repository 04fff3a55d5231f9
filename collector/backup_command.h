/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands for the collector's data as a whole. backup works while a collector runs. */
#ifndef COLLECTOR_BACKUP_COMMAND_H
#define COLLECTOR_BACKUP_COMMAND_H

/* Writes the contents of a folder to one file. ARGV[0] is "backup". Returns the exit status. */
int backup_command_backup(int argc, char **argv);

/* Makes a folder from a backup. ARGV[0] is "restore". Returns the exit status. */
int backup_command_restore(int argc, char **argv);

/* Reads a whole folder and prints damaged files. ARGV[0] is "check". Returns the exit status. */
int backup_command_check(int argc, char **argv);

#endif
