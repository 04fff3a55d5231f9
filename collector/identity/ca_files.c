/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the authority on disk.

   If a collector dies while it makes its authority, the next start must find either nothing or
   complete files. So every file is written under a temporary name, flushed and renamed, and the
   folder is flushed too. All writers hold one advisory lock, so that `token` and the first start of
   the collector may race. The lock file is never deleted: otherwise two processes could hold locks
   on two different files of one name. */
#include "ca_files.h"

#include "common/write_all.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 0700, KEY_MODE = 0600, CERTIFICATE_MODE = 0600 };

int ca_files_lock(const char *dir) {
  char path[PATH_MAX];
  if ((size_t)snprintf(path, sizeof path, "%s/lock", dir) >= sizeof path) return -ENAMETOOLONG;
  if (mkdir(dir, FOLDER_MODE) != 0 && errno != EEXIST) return -errno;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, KEY_MODE);
  if (fd < 0) return -errno;
  while (flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    int failure = -errno;
    close(fd);
    return failure;
  }
  return fd;
}

int ca_files_flush_folder(const char *path) {
  const char *slash = strrchr(path, '/');
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
  int fd = open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int result = fsync(fd) == 0 ? 0 : -errno;
  close(fd);
  return result;
}

int ca_files_write(const char *path, struct span bytes, mode_t mode) {
  char beside[PATH_MAX];
  if ((size_t)snprintf(beside, sizeof beside, "%s.new", path) >= sizeof beside)
    return -ENAMETOOLONG;
  unlink(beside); /* left by a crash, possibly with another mode */
  int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return -errno;
  int result = fchmod(fd, mode) == 0 ? write_all(fd, bytes) : -errno;
  if (result == 0 && fsync(fd) != 0) result = -errno;
  if (close(fd) != 0 && result == 0) result = -errno;
  if (result == 0 && rename(beside, path) != 0) result = -errno;
  if (result != 0) {
    unlink(beside);
    return result;
  }
  return ca_files_flush_folder(path);
}

static int write_memory(const char *path, BIO *memory, mode_t mode) {
  char *text;
  long len = BIO_get_mem_data(memory, &text);
  if (len <= 0) return -ENOMEM;
  return ca_files_write(path, span_of(text, (size_t)len), mode);
}

int ca_files_write_key(const char *path, EVP_PKEY *key) {
  BIO *memory = BIO_new(BIO_s_secmem());
  int result = -ENOMEM;
  if (memory != NULL && PEM_write_bio_PrivateKey(memory, key, NULL, NULL, 0, NULL, NULL) == 1)
    result = write_memory(path, memory, KEY_MODE);
  BIO_free(memory);
  return result;
}

int ca_files_write_chain(const char *path, X509 *certificate, X509 *issuer) {
  BIO *memory = BIO_new(BIO_s_mem());
  int result = -ENOMEM;
  if (memory != NULL && PEM_write_bio_X509(memory, certificate) == 1 &&
      (issuer == NULL || PEM_write_bio_X509(memory, issuer) == 1))
    result = write_memory(path, memory, CERTIFICATE_MODE);
  BIO_free(memory);
  return result;
}

EVP_PKEY *ca_files_read_key(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return NULL;
  EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);
  fclose(file);
  ERR_clear_error();
  return key;
}

X509 *ca_files_read_certificate(const char *path) {
  FILE *file = fopen(path, "re");
  if (file == NULL) return NULL;
  X509 *certificate = PEM_read_X509(file, NULL, NULL, NULL);
  fclose(file);
  ERR_clear_error();
  return certificate;
}
