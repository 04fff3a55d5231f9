# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_elf_notes DEPS daemon ring intake proto common)
