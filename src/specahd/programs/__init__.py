"""Program texts: their language, one parse of each, the guard, definition and compilation."""
