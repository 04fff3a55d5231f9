/* SPDX-License-Identifier: Apache-2.0 */
/* Only exec decides whether a program can run.  This finds early that it is missing, a directory or
   not executable, so that nothing is started or written for it.  Doubtful cases pass and are left
   to exec.

   As in execvp, a name without a slash is looked up in PATH, and an empty part of PATH is the
   current directory.  A file that is not executable does not end the search, but determines the
   error.  A folder of PATH that may not be searched (root's, after a change of user) is ignored. */
#include "program_look.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_WITHOUT_ONE "/bin:/usr/bin"

static int look_at(const char *path) {
  struct stat found;
  if (stat(path, &found) != 0) return -errno;
  if (!S_ISREG(found.st_mode)) return -EACCES;
  if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0) return 0;
  return errno == EACCES ? -EACCES : 0;
}

int program_look(const char *program, char ret_path[PATH_MAX]) {
  char path[PATH_MAX];
  int answer = -ENOENT;
  if (strchr(program, '/') != NULL) {
    snprintf(ret_path, PATH_MAX, "%s", strlen(program) < PATH_MAX ? program : "");
    return look_at(program);
  }
  const char *folders = getenv("PATH");
  if (folders == NULL) folders = PATH_WITHOUT_ONE;
  for (const char *at = folders; at != NULL; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
    int len = (int)strcspn(at, ":");
    int used = snprintf(path, sizeof path, "%.*s%s%s", len, at, len > 0 ? "/" : "", program);
    if (used < 0 || used >= (int)sizeof path) continue;
    int error = look_at(path);
    if (error == 0) memcpy(ret_path, path, (size_t)used + 1);
    if (error == 0) return 0;
    if (error == -EACCES && access(path, F_OK) == 0) answer = -EACCES;
  }
  return answer;
}
