"""Program search: variation operators, the ask/tell protocol, and the one loop."""
