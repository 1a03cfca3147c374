"""jaxmark: benchmarks of Flax NNX models on CPU, GPU and TPU."""

__version__ = "0.1.0"
