"""Known contents of tensors, and what operators compute from them: one evaluator for the rules of all dialects."""
