"""The static rules of the language, which are checked before a document is evaluated."""
