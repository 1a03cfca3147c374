"""Two models of one's own, for `jaxmark run --workload docs/examples/own_models.py:NAME`."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

import suite


def in_place() -> suite.Call:
    """A training function in the style of Flax's guides, run as it is."""
    model = nnx.Sequential(
        nnx.Linear(64, 256, rngs=nnx.Rngs(0)), nnx.relu, nnx.Dropout(0.1, rngs=nnx.Rngs(1)),
        nnx.Linear(256, 10, rngs=nnx.Rngs(2)),
    )  # fmt: skip
    optimizer = nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)
    images, labels = jax.random.normal(jax.random.key(3), (128, 64)), jnp.arange(128) % 10

    @nnx.jit
    def train_step(model, optimizer, images, labels):
        def loss_fn(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

        loss, grads = nnx.value_and_grad(loss_fn)(model)
        optimizer.update(model, grads)
        return loss

    return suite.Call(
        train_step,
        (model, optimizer, images, labels),
        facts=suite.Facts(items=128, item="image", batch=128, loss=lambda loss: loss),
    )


def pure() -> suite.Step:
    """A pure step: jaxmark compiles it ahead of time and donates its state."""
    graphdef, params = nnx.split(nnx.Linear(512, 512, rngs=nnx.Rngs(0)))

    def step(params, batch):
        return params, nnx.merge(graphdef, params)(batch)

    return suite.Step(step, params, jnp.ones((64, 512)), suite.Facts(items=64, item="sample", batch=64))
