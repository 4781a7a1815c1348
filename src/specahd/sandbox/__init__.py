"""Running programs that nobody trusts: guard, confined child, shared blocks, executors."""
