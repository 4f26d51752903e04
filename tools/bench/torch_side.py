"""PyTorch's side of the benchmark of training steps and sampling.

Reads orders, one line of JSON each, and answers each with one, as
trainer/policy/internal/benchmark does with -side. The model is the same block
by block: RMS normalisation, rotary attention over whole heads, an MLP of GELU
four times as wide, no biases, an output tied to the embeddings. It is written
as one would write it for speed on PyTorch: one product for queries, keys and
values, the fused attention and the fused AdamW where the version has them, a
preallocated cache, inference mode, and with --compile torch.compile.

Runs on PyTorch 1.13 and on 2.x, on the CPU.
"""

import argparse
import json
import math
import os
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--compile", action="store_true")
parser.add_argument("--only", default="", help="what to take part in, such as train:d128,decode:d256; empty is all")
args = parser.parse_args()
# A build on OpenBLAS has threads of its own, which torch does not set: they
# are to be as many, and that must be known before the library is loaded.
os.environ["OPENBLAS_NUM_THREADS"] = str(args.threads)

import torch
import torch.nn.functional as F
from torch import nn

VOCAB, CONTEXT, BATCH, PROMPT, SAMPLED = 512, 256, 16, 32, 96
SIZES = {"d128": (128, 4, 4), "d256": (256, 4, 4), "d384": (384, 6, 6)}
EPS = 1e-6
FUSED_ATTENTION = hasattr(F, "scaled_dot_product_attention")


class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        if hasattr(F, "rms_norm"):
            return F.rms_norm(x, self.gain.shape, self.gain, EPS)
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPS) * self.gain


def rotate(x, cos, sin):
    """Rotary positions of x (B, H, T, E)."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def attend(q, k, v, mask, causal):
    """Attention; mask is added to the scores, causal says that it only hides the future."""
    if FUSED_ATTENTION:
        if causal:
            return F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    scores = (q * (1 / math.sqrt(q.shape[-1]))) @ k.transpose(-2, -1)
    if mask is not None:
        scores = scores + mask
    return scores.softmax(-1) @ v


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim, bias=False)
        self.up = nn.Linear(dim, 4 * dim, bias=False)
        self.down = nn.Linear(4 * dim, dim, bias=False)

    def heads_of(self, x, cos, sin):
        b, t, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def rest(self, x, o):
        b, t, d = x.shape
        x = x + self.out(o.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    def forward(self, x, cos, sin, mask):
        q, k, v = self.heads_of(x, cos, sin)
        return self.rest(x, attend(q, k, v, mask, True))


class Model(nn.Module):
    def __init__(self, dim, layers, heads):
        super().__init__()
        self.scale = 0.3 * math.sqrt(dim)
        self.embedding = nn.Embedding(VOCAB, dim)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(layers))
        self.norm = RMSNorm(dim)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)
        width = dim // heads
        angle = torch.arange(CONTEXT)[:, None] * 10000.0 ** (-torch.arange(0, width, 2) / width)
        self.register_buffer("cos", torch.cat((angle.cos(), angle.cos()), -1))
        self.register_buffer("sin", torch.cat((angle.sin(), angle.sin()), -1))
        self.register_buffer("future", torch.full((CONTEXT, CONTEXT), -math.inf).triu(1))

    def embed(self, tokens):
        return self.embedding(tokens) * self.scale

    def head(self, x):
        return F.linear(self.norm(x), self.embedding.weight)

    def forward(self, tokens):
        """The mean loss of every token but the first of each sequence."""
        t = tokens.shape[1]
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, self.cos[:t], self.sin[:t], self.future[:t, :t])
        logits = self.head(x[:, :-1])
        return F.cross_entropy(logits.reshape(-1, VOCAB), tokens[:, 1:].reshape(-1))

    def prefill(self, tokens, cache):
        t = tokens.shape[1]
        x = self.embed(tokens)
        for block, (keys, values) in zip(self.blocks, cache):
            q, k, v = block.heads_of(x, self.cos[:t], self.sin[:t])
            keys[:, :, :t], values[:, :, :t] = k, v
            x = block.rest(x, attend(q, k, v, self.future[:t, :t], True))
        return draw(self.head(x[:, -1]))

    def step(self, tokens, at, cache):
        """One more token (B, 1) at position at, the cache read up to it."""
        x = self.embed(tokens)
        cos, sin = self.cos[at : at + 1], self.sin[at : at + 1]
        for block, (keys, values) in zip(self.blocks, cache):
            q, k, v = block.heads_of(x, cos, sin)
            keys[:, :, at : at + 1], values[:, :, at : at + 1] = k, v
            x = block.rest(x, attend(q, keys[:, :, : at + 1], values[:, :, : at + 1], None, False))
        return draw(self.head(x[:, -1]))

    def fixed_step(self, tokens, at, cache):
        """The same with shapes that never change, for the compiler: at is a tensor."""
        x = self.embed(tokens)
        cos, sin = self.cos[at], self.sin[at]
        mask = torch.where(torch.arange(cache[0][0].shape[2]) <= at, 0.0, -math.inf)[None, None, None]
        for block, (keys, values) in zip(self.blocks, cache):
            q, k, v = block.heads_of(x, cos, sin)
            keys.index_copy_(2, at, k)
            values.index_copy_(2, at, v)
            x = block.rest(x, attend(q, keys, values, mask, False))
        return draw(self.head(x[:, -1]))


def draw(logits):
    """Tokens (B, 1) at temperature 1 and their log-probabilities."""
    logp = logits.log_softmax(-1)
    race = torch.empty_like(logp).exponential_()
    token = (logp.exp() / race).argmax(-1, keepdim=True)
    return token, logp.gather(-1, token)


class Side:
    def __init__(self, size, compiled):
        torch.manual_seed(1)
        dim, self.layers, self.heads = SIZES[size]
        self.width = dim // self.heads
        self.model = Model(dim, self.layers, self.heads)
        self.compiled = compiled
        self.loss = torch.compile(self.model) if compiled else self.model
        self.fixed = torch.compile(self.model.fixed_step) if compiled else None
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        rest = [p for p in self.model.parameters() if p.dim() <= 1]
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
        options = {"lr": 3e-4, "betas": (0.9, 0.95), "eps": 1e-8}
        try:
            self.adam = torch.optim.AdamW(groups, fused=True, **options)
        except (RuntimeError, TypeError):
            self.adam = torch.optim.AdamW(groups, foreach=True, **options)
        self.tokens = torch.randint(VOCAB, (BATCH, CONTEXT))

    def train(self, steps):
        best = cpu = math.inf
        for _ in range(steps):
            start, used = time.perf_counter(), time.process_time()
            loss = self.loss(self.tokens)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.adam.step()
            self.adam.zero_grad(set_to_none=True)
            best = min(best, time.perf_counter() - start)
            cpu = min(cpu, time.process_time() - used)
        return {"seconds": best, "cpu": cpu, "loss": loss.item()}

    @torch.inference_mode()
    def decode(self, batch):
        shape = (batch, self.heads, PROMPT + SAMPLED, self.width)
        cache = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(self.layers)]
        prompts = torch.randint(VOCAB, (batch, PROMPT))
        positions = [torch.tensor([at]) for at in range(PROMPT + SAMPLED)]
        out = []
        start = time.perf_counter()
        token, logp = self.model.prefill(prompts, cache)
        begin, used = time.perf_counter(), time.process_time()
        for at in range(PROMPT, PROMPT + SAMPLED - 1):
            if self.fixed:
                token, logp = self.fixed(token, positions[at], cache)
            else:
                token, logp = self.model.step(token, at, cache)
            out.append((token, logp))
        end = time.perf_counter()
        return {"seconds": end - begin, "cpu": time.process_time() - used, "prompt": begin - start}


def main():
    torch.set_num_threads(args.threads)
    how = "torch.compile" if args.compile else "eager"
    blas = "MKL" if torch.backends.mkl.is_available() else "OpenBLAS"
    name = f"PyTorch {torch.__version__}, {how}, {blas}"
    print(json.dumps({"name": name, "threads": torch.get_num_threads()}), flush=True)
    sides = {}
    for line in sys.stdin:
        order = json.loads(line)
        size = order["size"]
        if args.only and f"{order['what']}:{size}" not in args.only.split(","):
            print(json.dumps({"absent": True}), flush=True)
            continue
        if size not in sides:
            sides[size] = Side(size, args.compile)
        if order["what"] == "train":
            answer = sides[size].train(order["steps"])
        else:
            answer = sides[size].decode(order["batch"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
