"""Figures that the engine promises, measured."""
