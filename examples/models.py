"""How are layers put together? Two structures, each as a row of containers and as a graph, with the same weights.

branches: Linear -> ReLU -+-> Linear -> ReLU -+-> Add     two inputs: Linear -> ReLU -+-> Add
                          +-> Linear -> ReLU -+                       Linear -> ReLU -+
"""

import numpy as np

from symbolic import SGD, AddTable, ConcatTable, Graph, Linear, ParallelTable, ReLU, Sequential, seed

seed(0)
shared, upper, lower = Linear(4, 8), Linear(8, 8), Linear(8, 8)

# ---------------------------------------------------------------- branches, in a row
branch1 = Sequential().add(upper).add(ReLU())
branch2 = Sequential().add(lower).add(ReLU())
branches = ConcatTable().add(branch1).add(branch2)
branching = Sequential().add(shared).add(ReLU()).add(branches).add(AddTable())

# ---------------------------------------------------------------- branches, as a graph
linear1 = shared.inputs()
relu1 = ReLU().inputs(linear1)
linear2 = upper.inputs(relu1)
relu2 = ReLU().inputs(linear2)
linear3 = lower.inputs(relu1)
relu3 = ReLU().inputs(linear3)
branching_graph = Graph([linear1], [AddTable().inputs(relu2, relu3)])

# ---------------------------------------------------------------- two inputs, side by side
left = Sequential().add(upper).add(ReLU())
right = Sequential().add(lower).add(ReLU())
pairing = Sequential().add(ParallelTable().add(left).add(right)).add(AddTable())

# ---------------------------------------------------------------- two inputs, as a graph
linear4, linear5 = upper.inputs(), lower.inputs()
relu4, relu5 = ReLU().inputs(linear4), ReLU().inputs(linear5)
pairing_graph = Graph([linear4, linear5], [AddTable().inputs(relu4, relu5)])

generator = np.random.default_rng(0)
rows, pair = generator.normal(size=(2, 4)), tuple(generator.normal(size=(2, 2, 8)))
for row, graph, inputs in ((branching, branching_graph, (rows,)), (pairing, pairing_graph, pair)):
    print(row, graph, "", sep="\n")
    assert np.array_equal(row.predict(*inputs), graph.predict(*inputs))
    row.train(*inputs, optimizer=SGD(0.1))  # moves the weights of both
    assert np.array_equal(row.predict(*inputs), graph.predict(*inputs))

step = branching_graph.trainer(SGD(1e-6))
with branching_graph.timing():
    step.run(100, generator.normal(size=(1000, 4)))
times = branching_graph.times()
for layer, forward, backward in times:
    print(f"{layer:32} {1e3 * forward:8.3f} ms forward {1e3 * backward:8.3f} ms backward")
print(
    f"{'together':32} {1e3 * sum(one.forward for one in times):8.3f} {1e3 * sum(one.backward for one in times):19.3f}"
)
