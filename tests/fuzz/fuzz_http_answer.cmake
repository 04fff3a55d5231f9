# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_http_answer DEPS fetch common)
