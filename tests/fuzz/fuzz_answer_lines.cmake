# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_answer_lines DEPS translate symbol common LIBS Threads::Threads)
