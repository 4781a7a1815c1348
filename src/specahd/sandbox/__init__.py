"""The sandbox of untrusted programs: guard, confined child, shared blocks, executors."""
