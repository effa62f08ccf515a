"""A training that is stopped on its way."""

import pytest
from salgen.evaluation.training.trainer import Trainer
from salgen.evaluation.training.training import train


def train_until_stopped(number, *given, **how):
    """Train until Ctrl-C in the middle of an epoch, counted from 1."""
    seen, whole = [], Trainer.epoch

    def epoch(self, split, order, advance, *others):
        def interrupt(count=1, /):
            if len(seen) == number and count:
                raise KeyboardInterrupt

        seen.append(number)
        return whole(self, split, order, interrupt, *others)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "epoch", epoch)
        with pytest.raises(KeyboardInterrupt):
            train(*given, **how)
