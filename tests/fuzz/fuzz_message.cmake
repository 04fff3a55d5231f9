# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_message DEPS proto common)
