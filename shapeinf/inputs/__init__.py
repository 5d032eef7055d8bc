"""What users and files specify of inputs: shape specs, ranges, objects of other tools, assumptions, options."""
