/* SPDX-License-Identifier: Apache-2.0 */
/* Detaches from the starter: its descriptors, session and directory; reports the result to it. */
#ifndef DAEMON_DAEMONIZE_H
#define DAEMON_DAEMONIZE_H

/* Closes every descriptor above 2. */
void daemonize_close_inherited(void);

/* Goes to the background.  Returns in the daemon with a descriptor for daemonize_report, or -errno
   on failure.  The starter's process does not return: it waits for the report, prints its line, if
   any, on stderr, and exits 0 or 1. */
int daemonize_begin(void);

/* Ends the starter's wait.  WHY is the line for its stderr; NULL is success. */
void daemonize_report(int fd, const char *why);

/* Redirects stderr to the log at PATH (truncated first if it is over 1 MiB), stdin and stdout to
   /dev/null.  Returns 0 or -errno. */
int daemonize_redirect(const char *path);

#endif
