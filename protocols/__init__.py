"""Protocols: experiments as TOML files, read into studies, changed from the command line, and named by digest."""

from aacbench.protocols.choices import override, parse_methods, spell
from aacbench.protocols.reader import known_protocols, read_protocol, to_toml
from aacbench.run.study import protocol_digest

__all__ = ["known_protocols", "override", "parse_methods", "protocol_digest", "read_protocol", "spell", "to_toml"]
