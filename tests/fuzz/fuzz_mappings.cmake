# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_mappings DEPS daemon ring intake proto common)
