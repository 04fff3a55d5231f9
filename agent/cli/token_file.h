/* SPDX-License-Identifier: Apache-2.0 */
/* A token in a file, where no other user sees it. */
#ifndef CLI_TOKEN_FILE_H
#define CLI_TOKEN_FILE_H

enum { TOKEN_FILE_BYTES = 4096 }; /* with its NUL */

/* Reads the file at PATH, without the line end that an editor leaves, into TEXT.  Returns 0 or
   -errno, -EOVERFLOW when it is longer than any token; TEXT is the caller's to cleanse. */
int token_file_read(const char *path, char text[TOKEN_FILE_BYTES]);

#endif
