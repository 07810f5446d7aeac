"""Contraction hierarchies: contraction, numbering, and the forms that are deployed."""
