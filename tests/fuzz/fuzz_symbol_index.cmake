# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_symbol_index DEPS symbol proto common)
