"""Tests of the port for GPUs: what every provider does, the registry, and each member."""
