# SPDX-License-Identifier: Apache-2.0
fuzz_target(fuzz_source_bundle DEPS proto common)
