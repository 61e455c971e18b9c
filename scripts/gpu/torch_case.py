# SPDX-License-Identifier: Apache-2.0
"""PyTorch's side, in a process of its own: the models that we measure, as people write them there. Run as it is
(eager), by torch.compile, and as a CUDA graph of the eager run, which costs no calls."""

import json
import statistics
import time

MODES = ("eager", "compile", "graph")


def resnet50(torch, batch):
    nn = torch.nn

    def conv(i, o, k, s=1):
        return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, bias=False), nn.BatchNorm2d(o))

    class Block(nn.Module):
        def __init__(self, i, mid, s):
            super().__init__()
            self.a, self.b, self.c = conv(i, mid, 1, s), conv(mid, mid, 3), conv(mid, 4 * mid, 1)
            self.same = i == 4 * mid and s == 1
            self.short = nn.Identity() if self.same else conv(i, 4 * mid, 1, s)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x):
            y = self.c(self.relu(self.b(self.relu(self.a(x)))))
            return self.relu(y + self.short(x))

    parts, channels = [conv(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for mid, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            parts.append(Block(channels, mid, stride if i == 0 else 1))
            channels = 4 * mid
    shape = (batch, 3, 224, 224)
    return shape, nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


def attended(torch, x, q, kv, size, causal):
    """Attention of a row of queries, keys and values, `q` and `kv` heads of them."""
    q, k, v = (t.unflatten(-1, (-1, size)).transpose(1, 2) for t in x.split((q * size, kv * size, kv * size), -1))
    more = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, **more)
    return y.transpose(1, 2).flatten(2)


def encoder(torch, batch):
    """The layers of gpu/layers.py as one module."""
    nn = torch.nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(768, 2304), nn.Linear(768, 768)
            self.up, self.down = nn.Linear(768, 3072), nn.Linear(3072, 768)
            self.first, self.second = nn.LayerNorm(768), nn.LayerNorm(768)

        def forward(self, x):
            x = self.first(x + self.out(attended(torch, self.qkv(x), 12, 12, 64, False)))
            return self.second(x + self.down(nn.functional.gelu(self.up(x))))

    return (batch, 128, 768), Encoder()


def decoder(torch, batch):
    nn = torch.nn

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            linear = lambda i, o: nn.Linear(i, o, bias=False)
            self.qkv, self.out = linear(2048, 3072), linear(2048, 2048)
            self.gate, self.up, self.down = linear(2048, 8192), linear(2048, 8192), linear(8192, 2048)
            self.first, self.second = nn.RMSNorm(2048, eps=1e-5), nn.RMSNorm(2048, eps=1e-5)

        def forward(self, x):
            x = x + self.out(attended(torch, self.qkv(self.first(x)), 32, 8, 64, True))
            y = self.second(x)
            return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))

    return (batch, 128, 2048), Decoder()


MODELS = {"resnet50-v1": resnet50, "encoder": encoder, "decoder": decoder}


def graph_of(torch, model, x):
    """Replays what the model does with this input."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = model(x)

    def replay(_):
        graph.replay()
        return y

    return replay


def sampled(torch, run, x, device):
    """Milliseconds of each run, sorted."""

    def once():
        if device == "cpu":
            started = time.perf_counter()
            run(x)
            return (time.perf_counter() - started) * 1e3
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        run(x)
        last.record()
        last.synchronize()
        return first.elapsed_time(last)

    samples, ends = [], time.monotonic() + (5 if device == "cuda" else 2)
    for _ in range(5):
        once()
    while len(samples) < 200 and (len(samples) < 5 or time.monotonic() < ends):
        samples.append(once())
    return sorted(samples)


def torch_case(text):
    """Times one model in one way; prints JSON. One that gives other results than eager does is refused."""
    import torch
    name, mode, batch, kind, device = text.split(",")
    if name not in MODELS:
        raise SystemExit(f"no model {name} is written here; there are {', '.join(MODELS)}")
    if mode == "graph" and device != "cuda":
        raise SystemExit("a CUDA graph wants a GPU")
    torch.manual_seed(1)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = kind == "tf32"
    torch.backends.cudnn.benchmark = True
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}.get(kind, torch.float32)
    shape, model = MODELS[name](torch, int(batch))
    model, x = model.eval().to(device, dtype), torch.rand(*shape, device=device).to(dtype)
    if len(shape) == 4 and (dtype != torch.float32 or kind == "tf32"):
        model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    with torch.inference_mode():
        run = (torch.compile(model, mode="reduce-overhead") if mode == "compile"
               else graph_of(torch, model, x) if mode == "graph" else model)
        samples = sampled(torch, run, x, device)
        got, expected = run(x).float(), model(x).float()
        finite = bool(torch.isfinite(got).all())
        apart = float((got - expected).abs().max() / expected.abs().max())
    if not finite or apart > (0.05 if kind in ("f16", "bf16") else 0.01):
        raise SystemExit(f"its result is {'not finite' if not finite else f'{apart:.3g} of the largest off eager'}")
    print(json.dumps({"model": name, "mode": mode, "batch": int(batch), "type": kind,
                      "median_ms": statistics.median(samples), "min_ms": samples[0], "count": len(samples),
                      "apart": apart, "torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}))
    return 0
