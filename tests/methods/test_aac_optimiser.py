"""The optimiser of AAC: torch's own updates, without the time that torch's class takes to import its compiler."""

import subprocess
import sys

import pytest
from late import Late

torch = Late("torch")
optimiser = Late("aacbench.plugins.methods.aac.optimiser")
pytestmark = pytest.mark.exhaustive  # torch's own takes seconds to import; replays of published runs check steps too
STEPS = 25


def trained(make):
    """The parameters after some steps down a loss that no step brings to rest."""
    torch.manual_seed(3)
    parameters = [torch.nn.Parameter(torch.randn(4, 6)), torch.nn.Parameter(torch.randn(3, 6))]
    step = make(parameters)
    for _ in range(STEPS):
        noise = torch.randn(6)
        step(sum(((parameter.softmax(dim=1) - noise) ** 2).sum() for parameter in parameters))
    return [parameter.detach() for parameter in parameters]


def by_torch(optimiser):
    def step(loss):
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    return step


@pytest.mark.parametrize("decay", [0.01, 0.0])
def test_its_steps_are_those_of_torch_to_the_last_bit(decay):
    ours = trained(lambda parameters: optimiser.AdamW(parameters, 0.05, decay).minimise)
    kinds = {0.01: torch.optim.AdamW, 0.0: torch.optim.Adam}
    theirs = trained(lambda parameters: by_torch(kinds[decay](parameters, lr=0.05)))
    start = trained(lambda _: lambda loss: None)
    assert all(torch.equal(one, other) for one, other in zip(ours, theirs, strict=True))
    assert not any(torch.equal(one, other) for one, other in zip(ours, start, strict=True))


def test_training_does_not_import_torchs_compiler():
    code = (
        "import sys, torch; from aacbench.plugins.methods.aac.optimiser import AdamW;"
        "p = torch.nn.Parameter(torch.ones(2)); AdamW([p], 0.1, 0.0).minimise((p ** 2).sum());"
        "print(p[0].item() < 1, 'torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
