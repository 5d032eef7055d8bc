"""Shape inference for model graphs."""
