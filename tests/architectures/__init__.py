"""Tests of device parameters and occupancy."""
