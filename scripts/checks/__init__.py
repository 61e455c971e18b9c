# SPDX-License-Identifier: Apache-2.0
"""What scripts/check is made of, a module for each question."""
