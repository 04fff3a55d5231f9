/* SPDX-License-Identifier: Apache-2.0 */
/* The file whose being there stops all sampling on the machine: no agent starts, no daemon samples.
 */
#ifndef INTAKE_KILL_SWITCH_H
#define INTAKE_KILL_SWITCH_H

#define KILL_SWITCH_PATH "/etc/fleetprof/disable"

#endif
