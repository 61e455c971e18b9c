# SPDX-License-Identifier: Apache-2.0
"""What scripts/measure_framework is made of, a module for each question."""
