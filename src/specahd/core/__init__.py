"""The types and rules that every other package builds on."""
