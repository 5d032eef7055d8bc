"""Networks as people write them, small: the classes that the cases of the family `networks` name. Needs torch."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812  (as everybody writes it)


def conv_bn(i, o, k=3, s=1, groups=1, act=nn.ReLU):
    return nn.Sequential(
        nn.Conv2d(i, o, k, s, k // 2, groups=groups, bias=False), nn.BatchNorm2d(o), act() if act else nn.Identity()
    )


class ResNet(nn.Module):
    """Two residual blocks, one of them with a projection, and a classifier."""

    def __init__(self):
        super().__init__()
        self.stem = conv_bn(3, 8, 7, 2)
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.a, self.b = (
            nn.Sequential(conv_bn(8, 8), conv_bn(8, 8, act=None)),
            nn.Sequential(conv_bn(8, 16, s=2), conv_bn(16, 16, act=None)),
        )
        self.project = conv_bn(8, 16, 1, 2, act=None)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.pool(self.stem(x))
        x = F.relu(self.a(x) + x)
        x = F.relu(self.b(x) + self.project(x))
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class SqueezeExcite(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.down, self.up = nn.Conv2d(c, c // 4, 1), nn.Conv2d(c // 4, c, 1)

    def forward(self, x):
        return x * torch.sigmoid(self.up(F.silu(self.down(x.mean((2, 3), keepdim=True)))))


class MobileNet(nn.Module):
    """An inverted residual with depthwise convolutions, squeeze-and-excite and hard activations."""

    def __init__(self):
        super().__init__()
        self.stem = conv_bn(3, 8, s=2, act=nn.Hardswish)
        self.block = nn.Sequential(
            conv_bn(8, 24, 1, act=nn.ReLU6), conv_bn(24, 24, 5, groups=24, act=nn.Hardswish), SqueezeExcite(24)
        )
        self.project = conv_bn(24, 8, 1, act=None)

    def forward(self, x):
        x = self.stem(x)
        return (x + self.project(self.block(x))).mean([2, 3])


class UNet(nn.Module):
    """Two levels; the upsampled features are padded to the size of those that they join."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = conv_bn(3, 8), conv_bn(8, 16), conv_bn(16, 32)
        self.up1, self.up2 = nn.ConvTranspose2d(32, 16, 2, 2), nn.ConvTranspose2d(16, 8, 2, 2)
        self.d, self.e = conv_bn(32, 16), conv_bn(16, 8)
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(F.max_pool2d(a, 2))
        c = self.c(F.max_pool2d(b, 2))
        b = self.d(torch.cat([self.fit(self.up1(c), b), b], 1))
        a = self.e(torch.cat([self.fit(self.up2(b), a), a], 1))
        return self.last(a)

    def fit(self, x, other):
        return F.interpolate(x, size=other.shape[2:], mode="bilinear", align_corners=False)


class Yolo(nn.Module):
    """A neck with upsampling and a head that makes a row of each cell, with a grid and anchors."""

    def __init__(self):
        super().__init__()
        self.a, self.b = conv_bn(3, 8, s=2, act=nn.SiLU), conv_bn(8, 16, s=2, act=nn.SiLU)
        self.c = conv_bn(24, 16, act=nn.SiLU)
        self.head = nn.Conv2d(16, 3 * 7, 1)
        self.register_buffer("anchors", torch.rand(1, 3, 1, 1, 2))

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        y = self.c(torch.cat([F.interpolate(b, scale_factor=2.0, mode="nearest"), a], 1))
        y = self.head(y)
        n, _, h, w = y.shape
        y = y.view(n, 3, 7, h, w).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, columns = torch.arange(h).view(h, 1).expand(h, w), torch.arange(w).view(1, w).expand(h, w)
        grid = torch.stack((columns, rows), 2).view(1, 1, h, w, 2).float()
        xy = (y[..., 0:2] * 2 - 0.5 + grid) * 4
        wh = (y[..., 2:4] * 2) ** 2 * self.anchors
        return torch.cat((xy, wh, y[..., 4:]), -1).view(n, -1, 7)


class Encoder(nn.Module):
    """A transformer's encoder layer by hand, after an embedding with positions."""

    def __init__(self, width=16, heads=4):
        super().__init__()
        self.heads = heads
        self.tokens, self.positions = nn.Embedding(50, width), nn.Embedding(32, width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def attend(self, x, mask):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scores = q @ k.transpose(-2, -1) / 2.0
        weights = (scores + mask).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))

    def forward(self, ids, mask):
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]).unsqueeze(0))
        bias = (1.0 - mask[:, None, None, :].float()) * -10000.0
        x = self.n1(x + self.attend(x, bias))
        return self.n2(x + self.down(F.gelu(self.up(x))))


class Decoder(Encoder):
    """The same with a causal mask and logits of the last token."""

    def forward(self, ids):
        n = ids.shape[1]
        x = self.tokens(ids)
        steps = torch.arange(n)
        causal = torch.zeros(n, n).masked_fill(steps.unsqueeze(0) > steps.unsqueeze(1), -1e4)
        x = self.n1(x + self.attend(x, causal))
        return (self.n2(x + self.down(F.gelu(self.up(x))))[:, -1:] @ self.tokens.weight.t()).argmax(-1)


class CrossAttention(nn.Module):
    """torch's own modules: attention over a memory, with an LSTM before it."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.norm = nn.LayerNorm(12)

    def forward(self, x, memory):
        y, (h, c) = self.lstm(x)
        m, _ = self.lstm(memory)
        z, weights = self.attention(y, m, m)
        return self.norm(y + z), weights, h, c


class VisionTransformer(nn.Module):
    """Patches, a class token, positions and one block with fused attention."""

    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.token, self.positions = nn.Parameter(torch.rand(1, 1, 16)), nn.Parameter(torch.rand(1, 17, 16))
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.token.expand(x.shape[0], -1, -1), x), 1) + self.positions
        n, length, _ = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(n, length, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(n, length, 16)
        return self.out(y)[:, 0]


class Windows(nn.Module):
    """Shifted windows: roll, partition by computed sizes, attention in each, and the way back."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)

    def forward(self, x):
        n, h, w, c = x.shape
        y = torch.roll(x, (-2, -2), (1, 2))
        y = y.view(n, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        q, k, v = self.qkv(y).chunk(3, -1)
        y = (q @ k.transpose(1, 2)).softmax(-1) @ v
        y = y.view(n, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        return torch.roll(y, (2, 2), (1, 2)) + x


class GruTagger(nn.Module):
    """Embeddings, a GRU, a mask and the best label of each token."""

    def __init__(self):
        super().__init__()
        self.tokens, self.gru, self.out = nn.Embedding(30, 8), nn.GRU(8, 10, batch_first=True), nn.Linear(10, 5)

    def forward(self, ids):
        mask = ids != 0
        y, state = self.gru(self.tokens(ids))
        logits = self.out(y).masked_fill(~mask.unsqueeze(-1), -1e4)
        total = (y * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return F.log_softmax(logits, -1), logits.argmax(-1), total, state


class Audio(nn.Module):
    """Strided and dilated convolutions over samples, with gates."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv1d(1, 8, 10, 5, 2), nn.Conv1d(8, 16, 3, dilation=2, padding=2)
        self.norm, self.up = nn.GroupNorm(2, 8), nn.ConvTranspose1d(8, 1, 8, 4, 2, 1)

    def forward(self, x):
        y = F.glu(self.b(F.leaky_relu(self.norm(self.a(x)), 0.2)), 1)
        return self.up(y), F.avg_pool1d(y, 3, 2, 1), y.std(-1), y.amax(2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8 * 4 * 4)
        self.a, self.b = nn.ConvTranspose2d(8, 8, 4, 2, 1), nn.ConvTranspose2d(8, 3, 3, 2, 1, 1)
        self.norm = nn.BatchNorm2d(8)

    def forward(self, z):
        x = self.first(z).view(-1, 8, 4, 4)
        return torch.tanh(self.b(F.relu(self.norm(self.a(x)))))


class SuperResolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 12, 5, padding=2), nn.Conv2d(12, 27, 3, padding=1)
        self.shuffle = nn.PixelShuffle(3)

    def forward(self, x):
        y = self.shuffle(self.b(F.prelu(self.a(x), torch.tensor([0.1]))))
        return y + F.interpolate(x, scale_factor=3, mode="bicubic", align_corners=False)


class Pyramid(nn.Module):
    """Lateral connections, levels of computed sizes."""

    def __init__(self):
        super().__init__()
        self.c = nn.ModuleList([conv_bn(3, 8, s=2), conv_bn(8, 16, s=2), conv_bn(16, 24, s=2)])
        self.l = nn.ModuleList([nn.Conv2d(c, 8, 1) for c in (8, 16, 24)])

    def forward(self, x):
        levels = []
        for c, lateral in zip(self.c, self.l, strict=True):
            x = c(x)
            levels.append(lateral(x))
        for i in (1, 0):
            size = (levels[i].size(2), levels[i].size(3))
            levels[i] = levels[i] + F.interpolate(levels[i + 1], size=size, mode="nearest")
        return tuple(levels)


class Dense(nn.Module):
    """Concatenated features, average pooling, a channel shuffle and global pooling of two kinds."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = conv_bn(4, 4), conv_bn(8, 4), conv_bn(12, 4)
        self.shuffle = nn.ChannelShuffle(4)

    def forward(self, x):
        for layer in (self.a, self.b, self.c):
            x = torch.cat((x, layer(x)), 1)
        x = F.avg_pool2d(self.shuffle(x), 3, 2, ceil_mode=True, count_include_pad=False)
        return torch.cat((F.adaptive_avg_pool2d(x, (2, 3)), F.adaptive_max_pool2d(x, (2, 3))), 1).flatten(1)


class PointNet(nn.Module):
    """Shared layers over points, a global maximum that joins each point."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 8), nn.Linear(16, 4)

    def forward(self, x):
        y = torch.relu(self.a(x))
        top = y.max(1, keepdim=True)[0].expand(-1, y.size(1), -1)
        values, indices = torch.topk(self.b(torch.cat((y, top), -1)), 2, dim=-1)
        return values, indices


class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv3d(3, 6, (1, 3, 3), (1, 2, 2), (0, 1, 1)), nn.Conv3d(6, 8, 3, padding=1)
        self.norm, self.pool = nn.InstanceNorm3d(6), nn.AvgPool3d((1, 2, 2))

    def forward(self, x):
        y = self.pool(F.elu(self.b(self.norm(self.a(x)))))
        return y, y.mean((3, 4)).transpose(1, 2)


class Autoencoder(nn.Module):
    """A latent sample (its mean, when it is not trained) and lists of chunks."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(20, 8), nn.Linear(4, 20)

    def forward(self, x):
        mean, log_variance = self.down(x.flatten(1)).chunk(2, 1)
        return self.up(mean).view(x.shape), mean, torch.exp(0.5 * log_variance)


class Gated(nn.Module):
    """Selects, narrow and strided slices, stacking, where: indexing as in models of time series."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(6, 12)

    def forward(self, x):
        first, rest = x[:, 0], x[:, 1:]
        a, b = self.cell(rest).split([4, 8], -1)
        gate = torch.where(a > 0, a, torch.zeros_like(a))
        odd = rest[:, ::2, 1:5]
        return torch.stack((first, x[:, -1]), 1), gate * b[..., :4], odd, torch.cumsum(x, 1).flip(1)


class Graph(nn.Module):
    """A normalized adjacency matrix and two products."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 3)

    def forward(self, x, adjacency):
        degree = adjacency.sum(-1, keepdim=True).clamp(min=1e-6)
        weights = adjacency / degree
        y = F.relu(torch.bmm(weights, self.a(x)))
        return F.normalize(torch.einsum("bij,bjk->bik", weights, self.b(y)), dim=-1)


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.tokens, self.channels = nn.Conv2d(3, 12, 4, 4), nn.Linear(16, 16), nn.Linear(12, 12)
        self.norm = nn.LayerNorm(12)

    def forward(self, x):
        y = self.patch(x).flatten(2).permute(0, 2, 1)
        y = y + self.tokens(self.norm(y).transpose(1, 2)).transpose(1, 2)
        return (y + F.gelu(self.channels(y), approximate="tanh")).mean(1)


class Style(nn.Module):
    """Adaptive normalization, a Gram matrix, reflected borders and an upsampling by size."""

    def __init__(self):
        super().__init__()
        self.pad, self.conv = nn.ReflectionPad2d(2), nn.Conv2d(3, 6, 5)

    def forward(self, x):
        y = F.instance_norm(self.conv(self.pad(x)))
        n, c, h, w = y.shape
        flat = y.view(n, c, h * w)
        gram = flat @ flat.transpose(1, 2) / (h * w)
        return gram, F.interpolate(y, size=(h * 2, w * 2), mode="bilinear", align_corners=True), F.pad(y, (1, 2, 0, 1))


class Rotary(nn.Module):
    """Rotary positions: tables made from the length, halves swapped."""

    def forward(self, x):
        _, length, width = x.shape
        angles = torch.arange(length).float().unsqueeze(1) * torch.arange(0, width, 2).float() / width
        angles = torch.cat((angles, angles), -1)
        half = torch.cat((-x[..., width // 2 :], x[..., : width // 2]), -1)
        return x * angles.cos() + half * angles.sin()


class Conformer(nn.Module):
    """A gated depthwise convolution over time between linear layers."""

    def __init__(self):
        super().__init__()
        self.norm, self.first, self.last = nn.LayerNorm(8), nn.Conv1d(8, 16, 1), nn.Conv1d(8, 8, 1)
        self.depthwise, self.batch = nn.Conv1d(8, 8, 5, padding=2, groups=8), nn.BatchNorm1d(8)

    def forward(self, x):
        y = F.glu(self.first(self.norm(x).transpose(1, 2)), 1)
        y = self.last(F.silu(self.batch(self.depthwise(y)))).transpose(1, 2)
        return x + y
