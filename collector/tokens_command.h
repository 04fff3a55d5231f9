/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands that say who may do what; they work whether the collector runs or not. */
#ifndef COLLECTOR_TOKENS_COMMAND_H
#define COLLECTOR_TOKENS_COMMAND_H

/* Prints one token, alone on stdout; or lists all, or withdraws one.  ARGV[0] is "token".  Returns
   the exit status. */
int tokens_command_token(int argc, char **argv);

/* Revokes a board's certificates.  ARGV[0] is "revoke".  Returns the exit status. */
int tokens_command_revoke(int argc, char **argv);

#endif
