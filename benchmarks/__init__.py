"""How fast is symbolic, beside its peers? `python -m benchmarks` measures; `import_time` and its like ask one thing."""
