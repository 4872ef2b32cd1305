"""The cases of benches/interop.py."""
