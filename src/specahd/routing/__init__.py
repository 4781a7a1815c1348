"""What every routing problem offers, the file formats, and geometry."""
