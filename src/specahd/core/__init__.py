"""The ground floor: the types and rules that every other room stands on."""
