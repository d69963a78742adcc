"""The native machine: a program as code of the processor, where `llvmlite` is installed."""
