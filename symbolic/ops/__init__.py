"""The vocabulary: one paragraph for each operation, found by the name of its subject."""
