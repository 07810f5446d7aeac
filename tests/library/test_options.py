"""What a user may ask of a run: addresses of schedulers."""

import pytest

from aacbench.errors import UsageError
from aacbench.library.options import RunOptions


@pytest.mark.parametrize(
    "address",
    ["", "foo", "tcp://127.0.0.1", "tcp://127.0.0.1:abc", "tcp://host:99999", "http://host:80"],
)
def test_what_is_no_address_of_a_scheduler_is_refused_at_once(address: str) -> None:
    with pytest.raises(UsageError, match=r"is not the address of a scheduler; give --scheduler tcp://HOST:PORT"):
        RunOptions(workers=1, executor="dask", scheduler=address)


@pytest.mark.parametrize("address", ["tcp://10.0.0.5:8786", "tls://node.example:8786", "[::1]:8786", "localhost:8786"])
def test_addresses_of_schedulers_are_accepted(address: str) -> None:
    assert RunOptions(workers=1, executor="dask", scheduler=address).scheduler == address
