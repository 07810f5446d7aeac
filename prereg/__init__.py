"""Pre-registration: what is predicted is written down, locked by digest, bound to the run, and judged from the rows."""
