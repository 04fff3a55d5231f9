# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_lr_tables DEPS elf_reader symbol proto common)
