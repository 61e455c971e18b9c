# SPDX-License-Identifier: Apache-2.0
"""What scripts/prove measures, a file a proof; and what several of them need."""
