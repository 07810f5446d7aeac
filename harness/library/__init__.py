"""What `import aacbench` offers and what the command line calls underneath; it may import every room but `cli`."""
