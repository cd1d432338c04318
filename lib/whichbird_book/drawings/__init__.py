"""Figures of chapters that take more than a few lines to draw, a module a part of the book; what they show is computed in the chapters."""
