/* SPDX-License-Identifier: Apache-2.0 */
/* While this file exists, all sampling on the machine is off: no agent starts, no daemon
   samples. */
#ifndef INTAKE_KILL_SWITCH_H
#define INTAKE_KILL_SWITCH_H

#define KILL_SWITCH_PATH "/etc/fleetprof/disable"

#endif
