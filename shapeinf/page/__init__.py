"""The page in which a browser infers shapes: its static files, and the part that runs there, in a web worker."""
