"""Questions past the straight path: isl sets, polytopes, bounds, dominance, monotonicity, witnesses."""
