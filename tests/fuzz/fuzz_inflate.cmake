# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_inflate DEPS proto common)
