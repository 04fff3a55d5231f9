/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors that arrived with a packet. */
#ifndef INTAKE_PASSED_FDS_H
#define INTAKE_PASSED_FDS_H

struct msghdr;

/* Takes the descriptors of PACKET, at most FDS_MAX, into FDS and closes the others.  Returns their
   number. */
unsigned passed_fds_take(struct msghdr *packet, int *fds, unsigned fds_max);

#endif
