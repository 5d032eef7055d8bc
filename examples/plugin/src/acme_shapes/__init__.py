"""Shapes of Acme's operators; shapeinf finds them by the entry points of this package."""
