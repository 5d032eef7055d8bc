"""TensorFlow Lite Micro: the arena that its interpreter needs for a model."""
