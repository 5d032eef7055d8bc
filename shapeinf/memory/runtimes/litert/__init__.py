"""LiteRT (TensorFlow Lite): the arenas that its interpreter plans for a model."""
