"""Machines: what turns a program into code. Each is loaded when it is asked for."""
