"""Products of matrices, vectors and tensors."""

from __future__ import annotations

from tests.differential.pnnx.case import Case


def product(text, inputs, others):
    return Case(f"{text} {inputs}", text, inputs, others)


CASES = [
    product("torch.matmul(x, y)", "f32[3,4] f32[4,5]", "f32[2,6] f32[6,7]"),
    product("torch.matmul(x, y)", "f32[2,3,4] f32[4,5]", "f32[3,2,6] f32[6,7]"),
    product("x @ y", "f32[2,1,3,4] f32[5,4,6]", "f32[3,1,2,6] f32[2,6,7]"),
    product("torch.matmul(x, y)", "f32[4] f32[4]", "f32[6] f32[6]"),
    product("torch.matmul(x, y)", "f32[4] f32[2,4,3]", "f32[6] f32[5,6,2]"),
    product("torch.matmul(x, y)", "f64[2,3,4] f64[4]", "f64[5,2,6] f64[6]"),
    product("torch.matmul(x, y)", "i64[0,3,4] i64[4,2]", "i64[2,3,4] i64[4,2]"),
    product("torch.matmul(x, y)", "f16[3,0] f16[0,2]", "f16[2,4] f16[4,5]"),
    product("torch.mm(x, y)", "f32[3,4] f32[4,5]", "f32[2,6] f32[6,7]"),
    product("x.mm(y)", "f64[3,4] f64[4,1]", "f64[1,6] f64[6,1]"),
    product("torch.mm(x, y)", "i32[3,4] i32[4,5]", "i32[2,6] i32[6,7]"),
    product("torch.bmm(x, y)", "f32[2,3,4] f32[2,4,5]", "f32[3,2,6] f32[3,6,7]"),
    product("torch.bmm(x, y)", "f64[1,3,4] f64[1,4,5]", "f64[3,2,6] f64[3,6,7]"),
    product("torch.bmm(x, x)", "f16[1,3,3]", "f16[2,4,4]"),
    product("torch.mv(x, y)", "f32[3,4] f32[4]", "f32[2,6] f32[6]"),
    product("x.mv(y)", "i64[3,4] i64[4]", "i64[2,6] i64[6]"),
    product("torch.mv(x, y)", "f64[1,1] f64[1]", "f64[2,3] f64[3]"),
    product("torch.addmm(x, y, z)", "f32[3,5] f32[3,4] f32[4,5]", "f32[2,7] f32[2,6] f32[6,7]"),
    product("torch.addmm(x, y, z, beta=0.5, alpha=2)", "f32[5] f32[3,4] f32[4,5]", "f32[7] f32[2,6] f32[6,7]"),
    product("torch.addmm(x, y, z)", "f64[3,1] f64[3,4] f64[4,5]", "f64[2,1] f64[2,6] f64[6,7]"),
    product("torch.addmm(x, y, z)", "i64[1] i64[3,4] i64[4,5]", "i64[1] i64[2,6] i64[6,7]"),
    product("torch.baddbmm(x, y, z)", "f32[2,3,5] f32[2,3,4] f32[2,4,5]", "f32[3,2,7] f32[3,2,6] f32[3,6,7]"),
    product(
        "torch.baddbmm(x, y, z, beta=2, alpha=0.5)", "f32[1,5] f32[2,3,4] f32[2,4,5]", "f32[1,7] f32[3,2,6] f32[3,6,7]"
    ),
    product("torch.baddbmm(x, y, z)", "f64[5] f64[2,3,4] f64[2,4,5]", "f64[7] f64[3,2,6] f64[3,6,7]"),
    *(
        product(f"torch.einsum('{equation}', x, y)", inputs, others)
        for equation, inputs, others in (
            ("ij,jk->ik", "f32[3,4] f32[4,5]", "f32[2,6] f32[6,7]"),
            ("ij,jk", "f32[3,4] f32[4,5]", "f32[2,6] f32[6,7]"),
            ("bij, bkj -> bik", "f64[2,3,4] f64[2,5,4]", "f64[3,2,6] f64[3,7,6]"),
            ("...ij,...jk", "f32[2,1,3,4] f32[5,4,6]", "f32[3,1,2,6] f32[2,6,7]"),
            ("...i,i", "f32[2,3,4] f32[4]", "f32[3,2,6] f32[6]"),
            ("i,j->ji", "i64[3] i64[4]", "i64[2] i64[5]"),
            ("ab,ab->", "f32[3,4] f32[3,4]", "f32[2,5] f32[2,5]"),
            ("...a,...b", "f32[2,3] f32[2,4]", "f32[3,2] f32[3,5]"),
            ("ij,ij->ij", "f32[3,1] f32[1,4]", "f32[2,1] f32[1,5]"),
            ("bA,bB->AB", "f32[3,2] f32[3,4]", "f32[2,5] f32[2,6]"),
        )
    ),
    product("torch.einsum('ii->i', x), torch.einsum('ii', x), torch.einsum('ij->ji', x)", "f32[4,4]", "f32[6,6]"),
    product("torch.einsum('b...->...b', x), torch.einsum('ba', x), torch.einsum('ij->', x)", "f32[3,4]", "f32[2,6]"),
    product("torch.einsum('i,i->i', x, y), torch.einsum('i,j->ij', y, x)", "f16[3] f32[3]", "f16[5] f32[5]"),
    product("torch.einsum('i,->i', x, y.sum()), torch.einsum('ij,j->ij', z, x)", "bool[3] i64[3] f16[2,3]", ""),
    product("torch.einsum('i,ij,j->', x, y, z)", "f32[3] f32[3,4] f32[4]", "f32[2] f32[2,6] f32[6]"),
    product("torch.cross(x, y)", "f32[4,3] f32[4,3]", "f32[5,3] f32[5,3]"),
    product("torch.cross(x, y, dim=0)", "f32[3,5] f32[3,5]", "f32[3,6] f32[3,6]"),
    product("torch.cross(x, y, dim=-2)", "f32[4,3,1] f32[1,3,5]", "f32[2,3,1] f32[1,3,6]"),
    product("torch.t(x), x.t() @ x", "f32[3,4]", "f32[2,5]"),
    product("torch.t(x)", "i64[3]", "i64[5]"),
    product("x.t() @ x", "f32[3,4]", "f32[2,5]"),
    # what computes with matrices beside
    product(
        "torch.matmul(x, y).softmax(-1) @ z", "f32[2,3,4] f32[2,4,5] f32[2,5,6]", "f32[3,2,6] f32[3,6,7] f32[3,7,1]"
    ),
]
