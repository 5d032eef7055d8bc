"""Random expressions between sizes and a size, in every element type, with constants near the limits of their types."""
