"""The two levels of the design search, and the rounds that couple them."""
