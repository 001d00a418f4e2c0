"""Randomness of torch that is keyed by the record, on threads of ours."""

# mypy: allow-subclassing-any, disable-error-code="import-not-found,import-untyped"
# mypy: allow-untyped-calls, allow-any-generics, no-warn-return-any
from __future__ import annotations

import threading
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def _with_generator() -> set[Any]:
    """The functions of torch that draw, and take a generator."""
    of_torch = (
        "rand randn randint randperm normal bernoulli multinomial poisson binomial rand_like randn_like "
    )
    of_torch += "randint_like _sample_dirichlet _standard_gamma"
    of_tensors = "uniform_ normal_ random_ bernoulli_ exponential_ geometric_ cauchy_ log_normal_ bernoulli "
    of_tensors += "multinomial"
    found = [getattr(torch, name, None) for name in of_torch.split()]
    return {*found, *(getattr(torch.Tensor, name, None) for name in of_tensors.split())} - {None}


class Keyed(TorchFunctionMode):
    """On the thread that enters it, torch draws from `generator` instead of its global state, which other
    threads use."""

    _drawing = _with_generator()

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func in self._drawing and kwargs.get("generator") is None:
            kwargs = {**kwargs, "generator": self.generator}
        return func(*args, **kwargs)


here = threading.local()  # `keyed`: the mode of this thread


def use_one_thread() -> None:
    """Makes torch's operations on this thread run on it alone. torch also takes the number for all threads
    that are yet to begin: another one sets that back."""
    before = torch.get_num_threads()
    if before > 1:
        torch.set_num_threads(1)
        restorer = threading.Thread(target=torch.set_num_threads, args=(before,))
        restorer.start()
        restorer.join()
