"""Inputs as users and files specify them: shape specs, ranges, objects of other tools, assumptions, options."""
