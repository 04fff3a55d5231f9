/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that came beside a packet. */
#ifndef INTAKE_PASSED_FDS_H
#define INTAKE_PASSED_FDS_H

struct msghdr;

/* Takes those of PACKET, FDS_MAX at most, into FDS and closes the others.  Returns how many. */
unsigned passed_fds_take(struct msghdr *packet, int *fds, unsigned fds_max);

#endif
