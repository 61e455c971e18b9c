# SPDX-License-Identifier: Apache-2.0
"""The models that we measure, as people write them in PyTorch: of each the dims of its input, and a module."""


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
