"""Never comes to an end."""

import time

while True:
    time.sleep(1)
