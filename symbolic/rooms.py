"""Where does a public name stand? So that it is found without loading what stands elsewhere.

The names themselves are stated in `public.py`; `tests/test_loading.py` holds that both say the same.
"""

ROOMS: dict[str, str] = {
    "batching": "vmap",
    "custom": "custom_gradient remat stop_gradient",
    "derivatives": "grad value_and_grad vjp",
    "errors": "DtypeError LayerError NonFiniteError ShapeError SymbolicError SymbolicWarning TapeError TraceError",
    "finite": "check_finite",
    "forward": "jvp",
    "function": "symbolic",
    "hints": "Symbolic",
    "jacobians": "hessian jacobian",
    "layer": "Layer",
    "leaves": "Identity Literal Projection Weight",
    "literal": "NoDelta ToLiteral",
    "machines": "use",
    "network": "Compose",
    "nn.containers": "AddTable ConcatTable ParallelTable Sequential",
    "nn.graph": "Graph GraphError",
    "nn.initializers": "constant glorot he lecun normal ones orthogonal seed truncated_normal uniform zeros",
    "nn.layers": "Linear Module ReLU",
    "ops.arithmetic": (
        "Abs Cbrt Copysign Divide Fabs FloatPower Heaviside Hypot Ldexp Negative Plus Positive Power "
        "Reciprocal Sign Sinc Sqrt Square Subtract Times"
    ),
    "ops.bordering": "Pad",
    "ops.choosing": "Where",
    "ops.comparison": (
        "BitwiseAnd BitwiseOr BitwiseXor Equal Greater GreaterEqual Invert Isfinite Isinf Isnan LeftShift "
        "Less LessEqual LogicalAnd LogicalNot LogicalOr LogicalXor NotEqual RightShift Signbit"
    ),
    "ops.complexes": "Conjugate Imag Real",
    "ops.convolution": "avg_pool2d conv2d max_pool2d windows",
    "ops.creation": "Diag Diagonal Tril Triu",
    "ops.cumulative": "Cumprod Cumsum Delay Prod Recurrence",
    "ops.decompositions": "Eig Eigh Eigvals Eigvalsh Qr",
    "ops.einsum": "Einsum",
    "ops.entries": "SetEntries",
    "ops.exponential": (
        "Arccos Arccosh Arcsin Arcsinh Arctan Arctan2 Arctanh Cos Cosh Degrees Exp Exp2 Expm1 Log Log1p Log2 "
        "Log10 Logaddexp Logaddexp2 Radians Sin Sinh Tan Tanh"
    ),
    "ops.fourier": "Fft Fftshift Ifft Ifftshift Irfft Rfft",
    "ops.gathering": "TakeAlongAxis",
    "ops.indexing": "AddAt GetItem Scatter SetItem",
    "ops.joining": "Concatenate Stack",
    "ops.linalg": "Adjugate Cholesky Det Inv InvOrNan Slogdet Solve",
    "ops.linear": "Dot MatMul TensorDot",
    "ops.matrices": "Close Factors MatrixError Values",
    "ops.movement": (
        "BroadcastTo Copy ExpandDims Flip Moveaxis Ravel Reshape Roll Rollaxis Rot90 Squeeze Swapaxes Transpose"
    ),
    "ops.norms": "Norm",
    "ops.passing": "Cast Item Tuple",
    "ops.products": "Convolve Correlate Cross Kron",
    "ops.reduction": "Max Mean Min Nanmax Nanmin Std Sum Var",
    "ops.repeating": "Repeat Tile",
    "ops.rounding": "Ceil Floor FloorDivide Fmax Fmin Fmod Maximum Minimum Remainder Rint Round Trunc",
    "ops.singular": "Lstsq MatrixRank Pinv Svd Svdvals",
    "ops.sliding": "WindowChoice WindowMax Windows WindowShare WindowSpread WindowSum",
    "ops.softmax": "log_softmax logsumexp softmax",
    "ops.sorting": "Argmax Argmin Argsort Nanargmax Nanargmin Sort",
    "ops.writing": "Flat",
    "optimizers": "SGD Adagrad Adam AdamW Momentum Nesterov Optimizer RMSprop",
    "parts": "L1 L2 Clip ClipNorm",
    "schedules": "CosineDecay ExponentialDecay PolynomialDecay SettingError StepDecay Warmup",
    "tape": "Tape",
}
"""The public names of each module."""
