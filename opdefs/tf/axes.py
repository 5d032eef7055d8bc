"""Axis rules."""
