/* SPDX-License-Identifier: Apache-2.0 */
/* `fleetprof-collector accept`: accepts the loss of files in a collector's folder. */
#ifndef COLLECTOR_ACCEPT_COMMAND_H
#define COLLECTOR_ACCEPT_COMMAND_H

/* Accepts the files of a collector's folder as they are. ARGV[0] is "accept". Returns the exit
   status. */
int accept_command(int argc, char **argv);

#endif
