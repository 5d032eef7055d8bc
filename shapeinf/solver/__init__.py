"""Queries beyond intervals: isl sets, polytopes, bounds, dominance, monotonicity, samples, witnesses."""
