/* SPDX-License-Identifier: Apache-2.0 */
/* Leaving the starter: its descriptors, its session, its directory; telling it how it went. */
#ifndef DAEMON_DAEMONIZE_H
#define DAEMON_DAEMONIZE_H

/* Closes every descriptor above 2. */
void daemonize_close_inherited(void);

/* Goes to the background.  Returns in the daemon with a descriptor for daemonize_report; -errno
   when that failed.  The starter's process does not return: it waits for the report, prints its
   line on stderr when there is one, and exits 0 or 1. */
int daemonize_begin(void);

/* Ends the starter's wait: WHY is the line for its stderr, NULL that all is well. */
void daemonize_report(int fd, const char *why);

/* Sends stderr to the log at PATH (emptied first when it is over 1 MiB), stdin and stdout to
   /dev/null.  Returns 0 or -errno. */
int daemonize_redirect(const char *path);

#endif
