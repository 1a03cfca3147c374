"""The work of a convolution over square images.

From H x H x C to h x h x c with a k x k kernel, for each image, in multiply-adds, products with
padding included:

    forward           h^2 k^2 C c
    weight gradient   the same
    input gradient    H^2 k^2 C c, written as a convolution over the spread-out gradient

With stride 1 the three are equal. With stride 2 the program's input gradient runs over a gradient
with zeros between its values: four times the textbook's figure, which most libraries never compute.
"""

from __future__ import annotations

from typing import NamedTuple


class Conv(NamedTuple):
    """A convolution: sides of its input and output in pixels, kernel side, channels."""

    size_in: int
    size_out: int
    kernel: int
    inputs: int
    outputs: int

    @property
    def multiply_adds(self) -> int:
        """Of one image, forward."""
        return self.size_out**2 * self.parameters

    @property
    def zero_multiply_adds(self) -> int:
        """Of one image, products with the zeros that the input gradient spreads in."""
        return (self.size_in**2 - self.size_out**2) * self.parameters

    @property
    def parameters(self) -> int:
        """Of the kernel, without a bias."""
        return self.kernel**2 * self.inputs * self.outputs
