# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_selector DEPS query store symbol proto common)
