"""Leaves a process behind that holds on to all it was given, and ends its own."""

import os
import time
from pathlib import Path

child = os.fork()
if child == 0:
    time.sleep(600)
if "FAULT_CHILD" in os.environ:
    Path(os.environ["FAULT_CHILD"]).write_text(str(child))
os._exit(5)
