"""Rules that dialects share, on dims and on known elements. They take shapes and values, and name no operator."""
