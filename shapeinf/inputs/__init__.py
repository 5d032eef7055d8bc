"""What users and files say of inputs: shape specs, ranges, objects of other tools, assumptions."""
