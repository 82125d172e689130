"""IGSD's training step, written from the parts of the package: the same weights as ``IGSD.fit``.

Change any part and you have a method of your own. Run it with `python examples/assemble.py`.
"""

import torch

from igsd import IGSD, GraphSet, load_dataset
from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.encoders.encoder import GNNEncoder
from igsd.losses.contrastive import consistency, infonce
from igsd.model.igsd import MLPHead, Student, Teacher
from igsd.settings.groups import View
from igsd.training.task import epoch_batches
from igsd.views.source import Source


def train(graphs: GraphSet, epochs: int, batch_size: int, seed: int) -> tuple[Student, Teacher]:
    """Return student and teacher after some epochs on the CPU."""
    torch.manual_seed(seed)
    features = FeatureMap.fit(graphs, "auto")  # what a node shows
    encoder = GNNEncoder("gin", features.dim, hidden_dim=64, num_layers=4, readout="sum")
    projector = MLPHead(encoder.out_dim, 1024, 256, batch_norm=True)
    predictor = MLPHead(256, 1024, 256, batch_norm=True)
    student = Student(encoder, projector, predictor)
    teacher = Teacher(student)
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3, fused=True)

    view = View(view="ppr", teleport=0.2, threshold=1e-3)  # Eq. diffusion
    source = Source(graphs, features, torch.get_default_device(), view=view, seed=seed, merge=True)
    for epoch in range(epochs):
        batches = epoch_batches(len(graphs), batch_size, seed, epoch)
        for step, indices in enumerate(batches):
            indices = source.by_size(indices)  # faster, and the loss does not depend on the order
            batch = source.batch(indices)
            (diffused,) = source.views(batch, indices, (epoch, step))
            both = Batch.joined([batch, diffused])
            p, p_view = student(both).chunk(2)
            z, z_view = teacher(both).chunk(2)  # without gradient
            loss = infonce(consistency(p, p_view, z, z_view), temperature=0.2)  # Eq. con, InfoNCE
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            teacher.update(student, decay=0.99)  # Eq. EMA
        print(f"epoch {epoch}: loss {loss.item():.3f}")
    return student, teacher


if __name__ == "__main__":
    graphs = load_dataset("MUTAG")
    student, teacher = train(graphs, epochs=2, batch_size=64, seed=0)
    model = IGSD(recipe=None, epochs=2, batch_size=64, random_state=0).fit(graphs).model_
    ours = [*student.state_dict().values(), *teacher.state_dict().values()]
    theirs = [*model.student.state_dict().values(), *model.teacher.state_dict().values()]
    print("the same weights as IGSD.fit:", all(map(torch.equal, ours, theirs)))
