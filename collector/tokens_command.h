/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands for tokens and revocation. They work whether the collector runs or not. */
#ifndef COLLECTOR_TOKENS_COMMAND_H
#define COLLECTOR_TOKENS_COMMAND_H

/* Prints one token, alone on stdout; or lists all, or revokes one. ARGV[0] is "token". Returns the
   exit status. */
int tokens_command_token(int argc, char **argv);

/* Revokes a board's certificates.  ARGV[0] is "revoke".  Returns the exit status. */
int tokens_command_revoke(int argc, char **argv);

#endif
