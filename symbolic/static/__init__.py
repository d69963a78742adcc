"""What does NumPy give for values that are known only by shape and dtype? The checker's core; no checker in it."""
