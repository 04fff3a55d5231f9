/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a token from a file, which no other user can read. */
#ifndef CLI_TOKEN_FILE_H
#define CLI_TOKEN_FILE_H

enum { TOKEN_FILE_BYTES = 4096 }; /* with its NUL */

/* Reads the file at PATH, without the trailing line end, into TEXT.  Returns 0 or -errno;
   -EOVERFLOW if it is longer than any token.  The caller cleanses TEXT. */
int token_file_read(const char *path, char text[TOKEN_FILE_BYTES]);

#endif
