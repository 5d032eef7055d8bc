"""Small networks as texts, and archives of weights."""

from __future__ import annotations

import io
import zipfile

HEAD = "7767517\n"


def network(*lines, blobs=None):
    """A file of these operators, with the counts that they have."""
    produced = sum(int(line.split()[3]) for line in lines)
    return f"{HEAD}{len(lines)} {produced if blobs is None else blobs}\n" + "".join(f"{line}\n" for line in lines)


INPUT = "pnnx.Input               pnnx_input_0             0 1 0 #0=(1,3,?,?)f32"
CONV = (
    "nn.Conv2d                conv                     1 1 0 1 bias=True dilation=(1,1) groups=1 in_channels=3 "
    "kernel_size=(3,3) out_channels=8 padding=(1,1) padding_mode=zeros stride=(2,2) @bias=(8)f32 @weight=(8,3,3,3)f32 "
    "$input=0 #0=(1,3,?,?)f32 #1=(1,8,?,?)f32"
)
OUTPUT = "pnnx.Output              pnnx_output_0            1 0 1 #1=(1,8,?,?)f32"

CONVOLUTION = network(INPUT, CONV, OUTPUT)

NCNN = """7767517
3 3
Input                    in0                      0 1 in0
Convolution              conv_0                   1 1 in0 1 0=8 1=3 11=3 4=1 5=1 6=216
pnnx.Expression          pnnx_expr_0              1 1 1 out0 expr=add(@0,1)
"""


def archive(members, compression=zipfile.ZIP_STORED):
    """A zip archive of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()
