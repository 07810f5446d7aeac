"""Pre-registration: predictions written down, locked by digest, bound to a run, and judged from its rows."""
