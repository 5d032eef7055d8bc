"""What is wrong with a document before anything of it is evaluated: the static rules of the language."""
