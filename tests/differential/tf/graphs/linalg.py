"""tf.linalg."""

from __future__ import annotations

from tests.differential.tf.graphs.case import Family, tf

LINALG = Family("linalg")


@LINALG.graph("float32[b, 4, 4]")
def squares(x):
    return [
        tf.linalg.inv(x + tf.eye(4) * 9),
        tf.linalg.det(x),
        *tf.linalg.qr(x),
        *tf.linalg.qr(x, full_matrices=True),
        *tf.linalg.svd(x),
        *tf.linalg.eigh(x),
        tf.linalg.matmul(x, x, transpose_a=True),
        tf.linalg.diag_part(x),
        tf.linalg.diag(tf.linalg.diag_part(x)),
        tf.linalg.set_diag(x, tf.linalg.diag_part(x)),
        tf.linalg.trace(x),
        tf.linalg.band_part(x, 1, 2),
        tf.linalg.expm(x),
        tf.linalg.logdet(tf.matmul(x, x, transpose_b=True) + tf.eye(4) * 9),
        tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + tf.eye(4) * 9),
        tf.linalg.pinv(x),
        tf.linalg.norm(x, axis=[-2, -1]),
        tf.linalg.matrix_rank(x),
        tf.linalg.lstsq(x, x[:, :, :2]),
        tf.linalg.global_norm([x, x]),
        *tf.linalg.lu(x),
        *tf.linalg.eig(x),
        tf.linalg.eigvals(x),
        tf.linalg.svd(x, compute_uv=False),
        tf.linalg.cross(x[..., :3], x[..., 1:]),
        tf.linalg.adjoint(x),
        tf.linalg.sqrtm(x + 9 * tf.eye(4)),
    ]


@LINALG.graph("float32[b, n, k]")
def unknown_sizes(x):
    return [
        *tf.linalg.qr(x),
        *tf.linalg.svd(x),
        *tf.linalg.svd(x, full_matrices=True),
        tf.linalg.diag_part(x),
        tf.linalg.diag_part(x, k=(-1, 1)),
        tf.linalg.diag(x, k=1),
        tf.linalg.diag(x, k=-2),
        tf.linalg.band_part(x, -1, 0),
        tf.linalg.matvec(x, x[:, 0, :]),
        tf.einsum("bnk,bmk->bnm", x, x),
        tf.einsum("...nk->...kn", x),
        tf.einsum("bnk->", x),
        tf.tensordot(x, x, [[2], [2]]),
        tf.tensordot(x, x, axes=[[0, 1], [0, 1]]),
        tf.linalg.normalize(x)[0],
        tf.linalg.tensor_diag(x[0, 0]),
        tf.linalg.tensor_diag_part(tf.linalg.tensor_diag(x[0, 0])),
        tf.eye(tf.shape(x)[1], batch_shape=[2]),
        tf.linalg.triangular_solve(
            tf.matmul(x, x, transpose_a=True) + tf.eye(tf.shape(x)[2]), tf.transpose(x, [0, 2, 1])
        ),
        tf.linalg.solve(tf.matmul(x, x, transpose_a=True) + tf.eye(tf.shape(x)[2]) * 9, tf.transpose(x, [0, 2, 1])),
    ]
