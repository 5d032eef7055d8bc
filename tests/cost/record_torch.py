"""Record what torch's flop counter counts of the networks of `tests/differential/pnnx`, at three sizes each.

`python -m tests.cost.record_torch` needs torch; the tests only read `torch_flops.json`.
"""

from __future__ import annotations

import json
from pathlib import Path

RECORDED = Path(__file__).parent / "torch_flops.json"
FAMILIES = ("networks", "conv", "linear", "product", "attention", "recurrent", "layer_networks")


def count(case, text):
    """Floating-point operations by the operator of torch that ran, for inputs such as `f32[1,3,16,16]`."""
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    from tests.differential.pnnx.record import network, tensors_of

    module, inputs = network(case), tensors_of(text)
    torch.backends.mha.set_fastpath_enabled(False)  # fused kernels are not counted
    plain = sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False)
    with torch.no_grad(), plain[0], plain[1], FlopCounterMode(display=False) as counter:
        module(*inputs)
    counts = counter.get_flop_counts().get("Global", {})
    return {str(op): int(flops) for op, flops in counts.items() if flops}


def main():
    from tests.differential.pnnx.families import FAMILIES as CASES

    recorded = {}
    for family in FAMILIES:
        for case in CASES[family]:
            texts = [text for text in (case.inputs, case.others, case.third) if text]
            try:
                recorded[f"{family}/{case.name}"] = [{"inputs": text, "flops": count(case, text)} for text in texts]
            except Exception as error:
                print(f"{family}/{case.name}: {type(error).__name__}: {error}")
    RECORDED.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    print(len(recorded), "networks")


if __name__ == "__main__":
    main()
