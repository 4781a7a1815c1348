"""Common parts of the vehicle problems: routes from a depot, their repair, the vocabularies."""
