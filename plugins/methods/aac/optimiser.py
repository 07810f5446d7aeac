"""AdamW by torch's functional step. To construct torch's own optimiser imports its compiler, which takes seconds."""

from collections.abc import Sequence

import torch
from torch.optim.adamw import adamw

_OFF = dict.fromkeys(("foreach", "fused", "amsgrad", "maximize"), False)


class AdamW:
    """The same updates as `torch.optim.AdamW` with its default betas; without weight decay, as `torch.optim.Adam`."""

    def __init__(self, parameters: Sequence[torch.Tensor], lr: float, weight_decay: float) -> None:
        self._parameters = list(parameters)
        self._settings = {"lr": lr, "weight_decay": weight_decay, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, **_OFF}
        self._means = [torch.zeros_like(parameter) for parameter in parameters]
        self._squares = [torch.zeros_like(parameter) for parameter in parameters]
        self._steps = [torch.tensor(0.0) for _ in parameters]

    def minimise(self, loss: torch.Tensor, lr: float | None = None) -> None:
        """Make one step, with the learning rate given here or at the beginning."""
        settings = self._settings if lr is None else {**self._settings, "lr": lr}
        gradients = list(torch.autograd.grad(loss, self._parameters))
        with torch.no_grad():
            adamw(self._parameters, gradients, self._means, self._squares, [], self._steps, **settings)
