/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands for the collector's data as a whole; backup works while a collector runs. */
#ifndef COLLECTOR_BACKUP_COMMAND_H
#define COLLECTOR_BACKUP_COMMAND_H

/* Writes what a folder holds to one file.  ARGV[0] is "backup".  Returns the exit status. */
int backup_command_backup(int argc, char **argv);

/* Makes a folder from such a file.  ARGV[0] is "restore".  Returns the exit status. */
int backup_command_restore(int argc, char **argv);

/* Reads a folder through and prints what is damaged.  ARGV[0] is "check".  Returns the exit
   status. */
int backup_command_check(int argc, char **argv);

#endif
