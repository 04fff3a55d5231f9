/* SPDX-License-Identifier: Apache-2.0 */
/* Shows a message during a long wait. */
#ifndef CLI_PATIENCE_H
#define CLI_PATIENCE_H

/* Writes TEXT to stderr after MS milliseconds, unless patience_end is called first.  Only one wait
   at a time.  Without a free kernel timer there is no message. */
void patience_begin(const char *text, unsigned ms);

/* On a terminal, shows TEXT (free of control characters) and the seconds passed, after the first
   second. patience_end erases it.  Only one wait at a time. */
void patience_watch(const char *text);
void patience_end(void);

/* Erases the message so that a line can be printed; the message reappears. */
void patience_clear(void);

#endif
