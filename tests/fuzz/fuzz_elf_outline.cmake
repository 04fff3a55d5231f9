# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_elf_outline DEPS symbol proto common)
