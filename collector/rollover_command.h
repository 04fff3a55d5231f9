/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof-collector rollover`: replaces the root certificate while the collector runs. */
#ifndef COLLECTOR_ROLLOVER_COMMAND_H
#define COLLECTOR_ROLLOVER_COMMAND_H

/* Runs the command of ARGV and returns its exit status. */
int rollover_command(int argc, char **argv);

#endif
