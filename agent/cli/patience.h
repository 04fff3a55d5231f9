/* SPDX-License-Identifier: Apache-2.0 */
/* A word for whoever waits longer than he would think. */
#ifndef CLI_PATIENCE_H
#define CLI_PATIENCE_H

/* Writes TEXT to stderr after MS milliseconds, unless patience_end comes before.  One at a time;
   where the kernel has no timer left there is no word. */
void patience_begin(const char *text, unsigned ms);

/* On a terminal shows TEXT, clean, and how many seconds have passed, from the first one on until
   patience_end, which takes it away.  One at a time. */
void patience_watch(const char *text);
void patience_end(void);

/* Takes the word of a watch away, for a line that is to be printed; it comes again. */
void patience_clear(void);

#endif
