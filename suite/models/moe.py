"""Mixtral: Llama's decoder with a choice of feed-forward networks in each block.

Jiang et al., Mixtral of Experts (2024). A router sends each token to the best two of E experts and
weighs what they answer by its softmax over the two. There is no sliding window: the published
model has none.

Programs have fixed shapes, and how many tokens choose an expert is known only when they have. So
each expert has slots for as many as its capacity, and a token that finds its expert full is
dropped there: it goes on with what it has, and is counted. Tokens are moved to the slots and back
by gathers, which cost no arithmetic. Where the capacity is as large as the number of tokens, as in
decode, nothing is moved or dropped: every expert answers every token, and most answers are weighed
with nothing. All experts' weights are read in every step, whether a token chose them or not.

Shapes: B batch, S positions, T = B S tokens, D width, E experts, N chosen for each token, C slots of
each expert, M hidden width of an expert, V vocabulary.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jax import lax

from suite.models.attention import Memory
from suite.models.layers import RMSNorm, dense, embedding, initial_stddev
from suite.models.llama import Attention, Rotary
from suite.models.precision import Policy
from suite.models.stack import Caches, Stack


class Routing(NamedTuple):
    """What the routers of all blocks so far have done; a sum over the blocks.

    Attributes:
        chosen: (E,) float32, how often each expert was chosen, per token.
        probability: (E,) float32, the mean probability of each.
        dropped: int32 scalar, the choices that found their expert full.
    """

    chosen: jax.Array
    probability: jax.Array
    dropped: jax.Array


class Stream(NamedTuple):
    """What goes from block to block: the tokens' vectors, and the account of the routing."""

    x_bsd: jax.Array
    routing: Routing


class Predicted(NamedTuple):
    """What the model gives.

    Attributes:
        logits: (B, S, V), or (B, V) of the last tokens alone, in the compute dtype.
        dropped: int32 scalar, choices that found their expert full, of all blocks; None where none can.
        balance: float32 scalar, Mixtral's auxiliary loss: E times the sum over the experts of how
            often each was chosen per token, times its mean probability, over the tokens of all
            blocks (2 where all are chosen alike). None where nothing is trained.
    """

    logits: jax.Array
    dropped: jax.Array | None = None
    balance: jax.Array | None = None


class Experts(nnx.Module):
    """A router and `experts` SwiGLU networks, `chosen` of which answer each token."""

    def __init__(
        self,
        width: int,
        hidden: int,
        experts: int,
        chosen: int,
        depth: int,
        *,
        capacity_percent: int,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.experts, self.chosen, self.capacity_percent, self.policy = (
            experts,
            chosen,
            capacity_percent,
            policy,
        )
        wide, small = initial_stddev(width), initial_stddev(width, residual_depth=depth)
        normal = nnx.initializers.normal
        self.router = nnx.Param(normal(wide)(rngs.params(), (width, experts), jnp.float32))
        self.gate_up = nnx.Param(normal(wide)(rngs.params(), (experts, width, 2 * hidden), jnp.float32))
        self.down = nnx.Param(normal(small)(rngs.params(), (experts, hidden, width), jnp.float32))

    def __call__(self, x_bsd: jax.Array, memory: Memory | None = None) -> tuple[jax.Array, Routing]:
        """Transforms each position on its own; returns (B, S, D) and what the router did.

        A token that continues a sequence is not to be dropped: with a memory of earlier tokens and
        one more to read, the experts have room for all.
        """
        tokens_td = x_bsd.reshape(-1, x_bsd.shape[-1])
        probability_te, weight_tn, expert_tn = self.route(tokens_td)
        goes_on = memory is not None and x_bsd.shape[1] == 1
        slots = len(tokens_td) if goes_on else self.slots(len(tokens_td))
        if slots >= len(tokens_td):
            out_td, dropped = self._answer_all(tokens_td, weight_tn, expert_tn), jnp.zeros((), jnp.int32)
        else:
            out_td, dropped = self._answer_chosen(tokens_td, weight_tn, expert_tn, slots)
        chosen_e = jnp.mean(jnp.sum(jax.nn.one_hot(expert_tn, self.experts), axis=1), axis=0)
        return out_td.reshape(x_bsd.shape), Routing(chosen_e, jnp.mean(probability_te, axis=0), dropped)

    def slots(self, tokens: int) -> int:
        """Returns the slots of each expert: its even share of the choices, times the capacity."""
        return -(-tokens * self.chosen * self.capacity_percent // (self.experts * 100))

    def route(self, x_td: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Returns each token's probabilities (T, E), its weights and its experts, both (T, N).

        In float32, true float32: a rounded product would send some tokens elsewhere.
        """
        with jax.named_scope("router"):
            kernel_de = self.router[...].astype(jnp.float32)
            logits_te = jnp.matmul(x_td.astype(jnp.float32), kernel_de, precision=lax.Precision.HIGHEST)
        probability_te = jax.nn.softmax(logits_te, axis=-1)
        best_tn, expert_tn = lax.top_k(probability_te, self.chosen)
        return probability_te, best_tn / jnp.sum(best_tn, axis=-1, keepdims=True), expert_tn

    def _answer_all(self, x_td: jax.Array, weight_tn: jax.Array, expert_tn: jax.Array) -> jax.Array:
        every_etd = jnp.broadcast_to(x_td, (self.experts, *x_td.shape))
        weight_te = jnp.sum(jax.nn.one_hot(expert_tn, self.experts) * weight_tn[..., None], axis=1)
        answer_etd = self._answer(every_etd).astype(jnp.float32)
        return self.policy.cast(jnp.sum(answer_etd * weight_te.T[..., None], axis=0))

    def _answer_chosen(
        self, x_td: jax.Array, weight_tn: jax.Array, expert_tn: jax.Array, slots: int
    ) -> tuple[jax.Array, jax.Array]:
        """Has each expert answer the first tokens that chose it; returns (T, D) and the dropped choices."""
        tokens, width = x_td.shape
        slot_tn = places(expert_tn, self.experts, slots)
        token_tn = jnp.broadcast_to(jnp.arange(tokens, dtype=jnp.int32)[:, None], slot_tn.shape)
        # Slots that nobody takes, and choices that have none, point past the end and read as zeros.
        filled = jnp.full((self.experts * slots,), tokens, jnp.int32)
        token_of_slot = filled.at[slot_tn.ravel()].set(token_tn.ravel(), mode="drop")
        x_ecd = x_td.at[token_of_slot].get(mode="fill", fill_value=0).reshape(self.experts, slots, width)
        answer_sd = self._answer(x_ecd).reshape(self.experts * slots, width)
        answer_tnd = answer_sd.at[slot_tn].get(mode="fill", fill_value=0).astype(jnp.float32)
        out_td = self.policy.cast(jnp.sum(answer_tnd * weight_tn[..., None], axis=1))
        return out_td, jnp.sum(slot_tn == self.experts * slots, dtype=jnp.int32)

    def _answer(self, x_ecd: jax.Array) -> jax.Array:
        """Each expert's answer to its own tokens, (E, C, D)."""
        cast, precision = self.policy.cast, self.policy.matmul
        both_ecm = jnp.einsum("ecd,edm->ecm", x_ecd, cast(self.gate_up[...]), precision=precision)
        gate_ecm, up_ecm = jnp.split(both_ecm, 2, axis=-1)
        return jnp.einsum(
            "ecm,emd->ecd", nnx.silu(gate_ecm) * up_ecm, cast(self.down[...]), precision=precision
        )


def places(expert_tn: jax.Array, experts: int, slots: int) -> jax.Array:
    """Returns which slot of all experts' each choice takes, (T, N) int32; E C where it takes none.

    An expert's slots go to tokens in their order, so that no token pushes out an earlier one.
    """
    asked_ce = jax.nn.one_hot(expert_tn.ravel(), experts, dtype=jnp.int32)
    before_ce = jnp.cumsum(asked_ce, axis=0) - asked_ce
    place_c = jnp.sum(before_ce * asked_ce, axis=1)
    slot_c = jnp.where(place_c < slots, expert_tn.ravel() * slots + place_c, experts * slots)
    return slot_c.reshape(expert_tn.shape)


class Block(nnx.Module):
    """Attention and experts, each normalised first and added to what came in."""

    def __init__(
        self,
        width: int,
        heads: int,
        groups: int,
        hidden: int,
        experts: int,
        chosen: int,
        depth: int,
        *,
        capacity_percent: int,
        rotary: Rotary,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.attention_norm = RMSNorm(width, policy=policy, rngs=rngs)
        self.attention = Attention(width, heads, groups, depth, rotary=rotary, policy=policy, rngs=rngs)
        self.experts_norm = RMSNorm(width, policy=policy, rngs=rngs)
        self.experts = Experts(
            width, hidden, experts, chosen, depth, capacity_percent=capacity_percent, policy=policy, rngs=rngs
        )

    def __call__(self, stream: Stream, memory: Memory | None = None) -> Stream:
        """Takes (B, S, D) and the routing so far, and gives the same."""
        x_bsd, before = stream
        x_bsd = x_bsd + self.attention(self.attention_norm(x_bsd), memory)
        answer_bsd, routing = self.experts(self.experts_norm(x_bsd), memory)
        return Stream(x_bsd + answer_bsd, jax.tree.map(jnp.add, before, routing))


class MoE(nnx.Module):
    """Token embedding, `depth` blocks, a norm and a head."""

    def __init__(
        self,
        *,
        vocab: int,
        width: int,
        heads: int,
        groups: int,
        hidden: int,
        experts: int,
        chosen: int,
        depth: int,
        capacity_percent: int,
        rotary: Rotary,
        scan: bool,
        remat: bool = False,
        policy: Policy,
        rngs: nnx.Rngs,
    ) -> None:
        self.groups, self.head_size, self.policy = groups, width // heads, policy
        self.experts, self.depth = experts, depth
        self.tokens = embedding(vocab, width, policy=policy, rngs=rngs)
        self.blocks = Stack(
            lambda rngs: Block(
                width,
                heads,
                groups,
                hidden,
                experts,
                chosen,
                depth,
                capacity_percent=capacity_percent,
                rotary=rotary,
                policy=policy,
                rngs=rngs,
            ),
            depth=depth,
            scan=scan,
            remat=remat,
            rngs=rngs,
        )
        self.norm = RMSNorm(width, policy=policy, rngs=rngs)
        self.head = dense(width, vocab, initial_stddev(width), bias=False, policy=policy, rngs=rngs)

    def __call__(self, tokens_bs: jax.Array) -> Predicted:
        """Maps tokens (B, S) to logits (B, S, V) and what the routers did."""
        x_bsd, routing = self.blocks(self._stream(tokens_bs))
        often, likely = routing.chosen / self.depth, routing.probability / self.depth
        balance = self.experts * jnp.sum(lax.stop_gradient(often) * likely)
        return Predicted(self.head(self.norm(x_bsd)), routing.dropped, balance)

    def cache(self, batch: int, slots: int) -> Caches:
        """Returns an empty cache for `batch` sequences of up to `slots` tokens."""
        return self.blocks.cache((batch, self.groups, slots, self.head_size), self.policy)

    def read(
        self, tokens_bs: jax.Array, cache: Caches, position: jax.Array | int
    ) -> tuple[Predicted, Caches]:
        """Reads tokens (B, S) that stand at `position` and after it in their sequences.

        Returns logits (B, V) for what follows the last of them, and the cache with all of them.
        """
        (x_bsd, routing), cache = self.blocks.read(self._stream(tokens_bs), cache, position)
        logits_bv = self.head(self.norm(x_bsd[:, -1:]))[:, 0]
        return Predicted(logits_bv, routing.dropped if tokens_bs.shape[1] > 1 else None), cache

    def _stream(self, tokens_bs: jax.Array) -> Stream:
        none_e = jnp.zeros((self.experts,), jnp.float32)
        return Stream(self.tokens(tokens_bs), Routing(none_e, none_e, jnp.zeros((), jnp.int32)))
