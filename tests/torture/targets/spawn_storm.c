/* SPDX-License-Identifier: Apache-2.0 */
/* vfork, posix_spawn, system and popen by the hundred, which share their parent's memory until they
   exec. The parent's memory (a filled block and its environment) must keep its hash.

     spawn_storm COUNT */
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK_BYTES = 4 << 20, BURN = 100000, WAYS = 4 };

extern char **environ;
static uint8_t *block;
static volatile uint64_t sink;

static uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) hash = (hash ^ bytes[i]) * 0x100000001b3;
  return hash;
}

static uint64_t hash_all(void) {
  uint64_t hash = hash_bytes(0xcbf29ce484222325, block, BLOCK_BYTES);
  for (char **variable = environ; *variable != NULL; variable++) {
    hash = hash_bytes(hash, (const uint8_t *)*variable, strlen(*variable));
    hash = hash_bytes(hash, (const uint8_t *)variable, sizeof *variable);
  }
  return hash;
}

static int wait_for(pid_t pid) {
  int status = -1;
  if (pid <= 0 || waitpid(pid, &status, 0) != pid) return -1;
  return status;
}

static int by_vfork(void) {
  pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(127);
  }
  return wait_for(pid);
}

static int by_spawn(void) {
  char *arguments[] = {(char *)"true", NULL};
  pid_t pid = -1;
  if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, environ) != 0) return -1;
  return wait_for(pid);
}

static int by_popen(void) {
  char text[16] = "";
  FILE *pipe = popen("echo 42", "r");
  if (pipe == NULL) return -1;
  if (fgets(text, sizeof text, pipe) == NULL) text[0] = '\0';
  int status = pclose(pipe);
  return status == 0 && strcmp(text, "42\n") == 0 ? 0 : -1;
}

static int start_one(unsigned way) {
  for (uint64_t i = 0; i < BURN; i++) sink += i;
  switch (way % WAYS) {
  case 0:
    return by_vfork();
  case 1:
    return by_spawn();
  case 2:
    return system("true");
  default:
    return by_popen();
  }
}

int main(int argc, char **argv) {
  unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 100;
  block = malloc(BLOCK_BYTES);
  if (block == NULL) return 1;
  for (size_t i = 0; i < BLOCK_BYTES; i++) block[i] = (uint8_t)(i * 7);
  uint64_t before = hash_all();
  unsigned failed = 0;
  for (unsigned i = 0; i < count; i++) failed += start_one(i) != 0;
  printf("%u of %u failed; memory is %s\n", failed, count,
         hash_all() == before ? "unchanged" : "CHANGED");
  int is_bad = failed > 0 || hash_all() != before;
  free(block);
  return is_bad;
}
