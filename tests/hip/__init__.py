"""Tests of the virtual HIP library and of the runtime behind it."""
