# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_elf DEPS symbol proto common)
