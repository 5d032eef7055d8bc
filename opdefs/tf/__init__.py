"""TensorFlow operators: the shape functions that many of them share."""
