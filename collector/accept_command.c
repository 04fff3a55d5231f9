/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a collector continue without a file that it must not lose silently: an operator accepts the
   loss, once, and the audit log records that. Restore a backup instead if there is one. */
#include "accept_command.h"

#include "common/buf.h"
#include "common/json.h"
#include "common/options.h"
#include "common/output_form.h"
#include "common/text.h"
#include "identity/access.h"
#include "identity/access_loss.h"
#include "identity/ca.h"
#include "store/store_check.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, ERROR_BYTES = 1024, PATH_BYTES = 4096 };
enum { CORRUPT_NAMES_MAX = 1000 };

struct accept_settings {
  const char *data, *format;
  bool is_json;
};

#define ROW(name, argument, kind, member, help) \
  { name, 0, argument, NULL, "Options", help, kind, offsetof(struct accept_settings, member) }

static const struct option rows[] = {
    ROW("data", "DIR", OPTION_PATH, data, "the collector's folder"),
    OUTPUT_FORM_ROW("Options", struct accept_settings, format),
};

static const struct option_table table = {
    .usage = "fleetprof-collector accept --data DIR",
    .summary = "Takes the files of a collector's folder as they are, where some were lost.",
    .epilogue =
        "For when there is no backup to restore: the collector must have ended.  Without "
        "access.db,\n"
        "or with an older one, tokens are unknown and boards that were revoked since may come in:\n"
        "revoke them again.  Without the root certificate every board must enroll anew.\n"
        "Afterwards check, /readyz and answers no longer name the files that were lost.\n"
        "\nEXAMPLES\n"
        "  fleetprof-collector check --data /var/lib/fleetprof-collector\n"
        "  fleetprof-collector accept --data /var/lib/fleetprof-collector\n",
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
};

/* Reads ARGV. Returns 0, 1 if --help was printed, or -EINVAL with ERROR. */
static int read_options(int argc, char **argv, struct accept_settings *ret, char *error) {
  struct options_result result;
  int failed = options_parse(&table, argc, argv, ret, &result, error, ERROR_BYTES);
  if (failed) return failed;
  if (result.is_done) return 1;
  failed = output_form_parse(argc, argv, ret->format, &ret->is_json, error, ERROR_BYTES);
  if (failed) return failed;
  if (result.first_positional < argc)
    snprintf(error, ERROR_BYTES, "%s: is one word too many", argv[result.first_positional]);
  else if (ret->data == NULL)
    snprintf(error, ERROR_BYTES, "--data: is missing; give the collector's folder");
  else
    return 0;
  return -EINVAL;
}

/* If run by root, becomes the folder's owner, because the collector must be able to open new files.
   Returns 0 or -errno. */
static int become_owner(const char *dir, char *error) {
  struct stat owner;
  if (geteuid() != 0 || stat(dir, &owner) != 0 || owner.st_uid == 0) return 0;
  if (setgroups(0, NULL) == 0 && setgid(owner.st_gid) == 0 && setuid(owner.st_uid) == 0) return 0;
  int failed = -errno;
  snprintf(error, ERROR_BYTES, "--data %s: cannot go on as its owner, user %u: %s", dir,
           (unsigned)owner.st_uid, strerror(-failed));
  return failed;
}

/* Takes the lock of a folder on which a collector has run. Returns a descriptor or -errno. */
static int lock(const char *dir, char *error) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/lock", dir);
  int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  int failed = fd < 0 ? -errno : flock(fd, LOCK_EX | LOCK_NB) != 0 ? -errno : 0;
  if (failed == 0) return fd;
  snprintf(error, ERROR_BYTES, "--data %s: %s", dir,
           failed == -ENOENT        ? "no collector has run there: check the name"
           : failed == -EWOULDBLOCK ? "a collector runs on this folder; end it first"
                                    : strerror(-failed));
  if (fd >= 0) close(fd);
  return failed;
}

static void on_fault(void *context, const char *name, const char *why) {
  struct json *json = context;
  json_open(json, '{');
  json_key_string(json, "name", name);
  json_key_string(json, "why", why);
  json_close(json, '}');
}

static void print_fault(void *context, const char *name, const char *why) {
  (void)context;
  text_print(stdout, "accepted: %s: %s", name, why);
}

/* Opens the authority. An unreadable one is renamed for inspection, and a new one is made. */
static int open_authority(const char *dir, struct ca **ret, char *error) {
  char from[PATH_BYTES], to[PATH_BYTES];
  int failed = ca_open(dir, ret, error, ERROR_BYTES);
  if (failed != -EBADMSG) return failed;
  snprintf(from, sizeof from, "%s/ca", dir);
  for (unsigned i = 0; i < CORRUPT_NAMES_MAX; i++) {
    int len = snprintf(to, sizeof to, i == 0 ? "%s/ca.corrupt" : "%s/ca.corrupt-%u", dir, i);
    if (len < 0 || (size_t)len >= sizeof to) break;
    if (faccessat(AT_FDCWD, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) continue;
    if (rename(from, to) == 0) return ca_open(dir, ret, error, ERROR_BYTES);
    break;
  }
  return failed;
}

/* Accepts access.db and the authority, which refer to each other. */
static int accept_rights(const char *dir, char *error) {
  struct access *access = NULL;
  struct ca *ca = NULL;
  int failed = access_accept(dir, error, ERROR_BYTES);
  if (!failed) failed = open_authority(dir, &ca, error);
  if (!failed) failed = access_open(dir, &access, error, ERROR_BYTES);
  if (!failed) {
    failed = access_check_roots(access, ca_first_id(ca), ca_next_id(ca), true);
    if (failed) snprintf(error, ERROR_BYTES, "%s/access.db: %s", dir, strerror(-failed));
  }
  if (!failed) access_audit(access, "-", "what was lost of the folder is accepted");
  access_close(access);
  ca_close(ca);
  return failed;
}

int accept_command(int argc, char **argv) {
  struct accept_settings settings = {0};
  char error[ERROR_BYTES] = "";
  struct buf text = {0};
  struct json json;
  int read = read_options(argc, argv, &settings, error);
  if (read == 1) return EXIT_DONE;
  bool is_owner = read == 0 && become_owner(settings.data, error) == 0;
  int fd = is_owner ? lock(settings.data, error) : -1;
  json_init(&json, &text, SIZE_MAX);
  json_open(&json, '{');
  json_key(&json, "accepted");
  json_open(&json, '[');
  int failed = fd < 0 ? -EINVAL : 0;
  if (!failed)
    failed = store_accept_loss(settings.data, settings.is_json ? on_fault : print_fault, &json,
                               error, ERROR_BYTES);
  if (!failed) failed = accept_rights(settings.data, error);
  json_close(&json, ']');
  json_close(&json, '}');
  if (!failed && settings.is_json) failed = output_form_write(&text);
  if (fd >= 0) close(fd);
  buf_fini(&text);
  if (failed) text_print(stderr, "fleetprof-collector accept: %s", error);
  return read != 0 ? EXIT_USAGE : failed ? EXIT_FAILED : EXIT_DONE;
}
