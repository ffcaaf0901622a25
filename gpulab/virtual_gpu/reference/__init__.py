"""The second opinion: rows read by numpy, and a slow, obvious machine that executes one workgroup and makes traces."""
