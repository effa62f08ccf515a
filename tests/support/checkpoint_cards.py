"""The card of a checkpoint that tests write."""

from salgen.evaluation.training.checkpoints import CheckpointMetadata

CARD_VALUES = CheckpointMetadata(
    model="lesion-cnn",
    parameters={"widths": [4, 8], "hidden": 8, "batch_norm": True},
    channels=1,
    image_size=[8, 12],
    task="label",
    class_names=["dark", "bright"],
    dataset="squares",
    dataset_fingerprint="f" * 64,
    seed=3,
    settings={"epochs": 1, "learning_rate": 0.003},
    history=[{"train_loss": 0.5, "val_loss": 0.4, "val_accuracy": 0.9}],
    best_epoch=1,
    test_accuracy=0.75,
    test_correct=3,
    n_test=4,
    chance=0.5,
    seconds=1.5,
    images_per_second=100.0,
    device="cpu",
    versions={"torch": "2"},
)
