"""What the vehicle problems share: routes from a depot, their repair, their vocabularies."""
