"""What one image takes, measured before the first map; kept, so that a run that goes on is cut into the same pieces."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from pathlib import Path
from salgen.files import write_text

PIECE_S = 5.0  # what a stop may lose of a method, unless one image takes longer


@dataclass(frozen=True)
class Cost:
    """Of one image: its passes through the network, their seconds, and how often a metric explains it again."""

    passes: float
    seconds: float
    explained: float = 0.0


@dataclass(frozen=True)
class Costs:
    """Costs of methods by their calls, for one kind of maps, and of metrics by theirs; and the methods' pieces."""

    methods: dict[str, Cost]
    metrics: dict[str, Cost]
    pieces: dict[str, int] = field(default_factory=dict)  # images; kept, whatever other methods join or fail

    @classmethod
    def read(cls, path: Path) -> Costs:
        """The costs in a file; none if it is missing, as they are measured again."""
        if not path.exists():
            return cls({}, {})
        entries = json.loads(path.read_text(encoding="utf-8"))
        costs = ({name: Cost(**cost) for name, cost in entries[key].items()} for key in ("methods", "metrics"))
        return cls(next(costs), next(costs), entries["pieces"])

    def write(self, path: Path) -> None:
        """Write the costs, whole or not at all."""
        path.parent.mkdir(exist_ok=True)
        write_text(path, json.dumps(asdict(self)))

    def of_metric(self, name: str, call: str) -> float:
        """Seconds for one image of scoring a method's map by a metric."""
        cost, method = self.metrics.get(name, Cost(0, 0)), self.methods.get(call, Cost(0, 0))
        return cost.seconds + cost.explained * method.seconds

    def of_method(self, call: str, kinds: int) -> float:
        """Seconds for one image of a method's maps, of so many kinds, and of scoring them."""
        explaining = kinds * self.methods[call].seconds if call in self.methods else 0.0
        return explaining + sum(self.of_metric(name, call) for name in self.metrics)

    def images_of_a_piece(self, calls: Collection[str], kinds: int, most: int) -> int:
        """Images that methods which share passes explain and score before they write, from 1 to `most`."""
        explaining = kinds * sum(self.methods[call].seconds for call in calls if call in self.methods)
        scoring = max(sum(self.of_metric(name, call) for name in self.metrics) for call in calls)
        return max(1, min(most, int(PIECE_S / max(explaining, scoring, 1e-9))))
