"""What is verified on the target, put together."""

import numpy as np

from lib.autotune.fusion_verify import Improvement, Verified


def improvement(target_s: float, seconds: float) -> Improvement:
    return Improvement(target_s, seconds, np.zeros(1, dtype=bool))


def test_going_on_never_makes_the_best_slower():
    """0.1 + 0.2 + 0.3 is more than 0.6 as a float, so what comes down to it is no improvement."""
    summed_again = 0.1 + 0.2 + 0.3
    assert summed_again > 0.6
    first = Verified([improvement(0.0, 1.0), improvement(5.0, 0.6)], moves=3, failed=1)
    later = Verified([improvement(5.0, np.nextafter(summed_again, 1)), improvement(6.0, summed_again)], 2, 1)
    further = Verified([*later.improvements, improvement(7.0, 0.5)], 4, 0)
    assert first.followed_by(later) == Verified(first.improvements, 5, 2)
    assert first.followed_by(further).improvements == [*first.improvements, further.improvements[-1]]
