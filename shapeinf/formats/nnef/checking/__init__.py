"""The static rules of the language, checked before anything of a document is evaluated."""
