"""Answers from a manifest to what Croissant's vocabulary for responsible AI asks of a data set.

References
----------
Jain et al. 2024, *A standardized machine-readable dataset documentation format for responsible AI*.
"""

from salgen.datasets.format.manifest import Manifest

CONFORMS_TO = "http://mlcommons.org/croissant/RAI/1.0"

NO_USE = "Not for conclusions about the things, persons or diseases that images show."
IMPACT = (
    "A saliency map that points at the wrong pixels misleads those who rely on it; this data set lets that be "
    "measured. A good score on it is no proof that a method can be trusted on other images or models."
)
MAINTENANCE = (
    "The data set is fixed by its fingerprint and is not updated. Whatever changes a pixel changes the generator's "
    "version and so the fingerprint."
)


def responsible_ai(manifest: Manifest) -> dict[str, str | list[str]]:
    """Properties of the ``rai`` namespace, each true of any data set with this manifest."""
    tool = f"salgen {manifest.libraries.get('salgen', '')}".rstrip()
    return {
        "rai:dataCollection": _collection(manifest),
        "rai:dataCollectionType": [
            "Secondary Data Analysis" if manifest.spec.source_digest else "Others: computed, not collected"
        ],
        "rai:dataManipulationProtocol": _manipulation(manifest),
        "rai:dataAnnotationProtocol": _annotation(manifest),
        **({} if manifest.imported else {"rai:machineAnnotationTools": [tool]}),
        "rai:dataUseCases": [
            f"Testing saliency methods and the classifiers that they explain, on splits {', '.join(manifest.splits)}.",
            NO_USE,
        ],
        "rai:dataLimitations": _limitations(manifest),
        "rai:dataBiases": _biases(manifest),
        "rai:personalSensitiveInformation": _personal(manifest),
        "rai:dataSocialImpact": IMPACT,
        "rai:dataReleaseMaintenancePlan": MAINTENANCE,
    }


def _collection(manifest: Manifest) -> str:
    spec = manifest.spec
    how = f"generator {spec.generator} version {spec.generator_version}, seed {spec.seed}"
    if not spec.source_digest:
        return f"Nothing was collected: every image is computed from random numbers by salgen ({how})."
    outside = f"{spec.source}, SHA-256 {spec.source_digest}. {manifest.notes}".rstrip()
    if manifest.imported:
        return f"Read by salgen ({how}) from a copy of data that others published: {outside}"
    if manifest.derived:
        return f"Made by salgen ({how}) from the images of another of its data sets: {outside}"
    return f"Rendered by salgen ({how}) from random numbers and outside material: {outside}"


def _manipulation(manifest: Manifest) -> str:
    if manifest.imported:
        return (
            "Splits, order, cropping and resizing are a pure function of the copy, the parameters and the seed; "
            "nothing is painted into the images."
        )
    law = "are equal, bit for bit, everywhere outside the mask"
    flaw = "may differ outside the mask, as these parameters keep a flaw of the reproduced paper or mask the scene"
    return (
        "Each image is a pure function of generator, version, parameters, source, seed, split and index. An image "
        f"and its counterfactual twin {law if manifest.exact else flaw}."
    )


def _annotation(manifest: Manifest) -> str:
    if manifest.imported:
        return "Labels are those of the published data; masks are annotations or segmentations."
    if manifest.derived:
        return "Labels follow from those of the other data set; the mask is what was done to its images, known exactly."
    return "Nobody annotated anything: labels are drawn, and the mask is the whole support of what was painted."


def _limitations(manifest: Manifest) -> list[str]:
    imported = (
        "Masks say where people or a segmentation saw the labelled thing. What a model really uses may be something "
        "else, so no sample can be certified."
    )
    made = "A method that finds the painted feature here may miss what a model uses in other images."
    recipes = "No picture is stored: salgen renders images, twins and masks from the recipes, and needs the source."
    absent = "Pixels are not included: they can be made again only by those who have the source."
    lacking = recipes if manifest.recipes_only else "" if manifest.pixels else absent
    return [text for text in (imported if manifest.imported else made, manifest.notes, lacking) if text]


def _biases(manifest: Manifest) -> list[str]:
    chosen = (
        "How often a class occurs, and what else goes with it, is set by the generator and its parameters, and is that "
        "of no population."
    )
    kept = f"The biases of the outside material ({manifest.spec.source}) are kept."
    if manifest.imported:
        return [kept]
    return [chosen, kept] if manifest.spec.source_digest else [chosen]


def _personal(manifest: Manifest) -> list[str]:
    if not manifest.spec.source_digest:
        return ["None: everything is computed from random numbers, and a person that is shown is drawn."]
    if not manifest.stores_pixels:
        masks = "" if manifest.recipes_only else ", and masks may be outlines of what its pictures show"
        return [f"No image is included. Recipes may hold the names that files have in the source{masks}."]
    return [f"Images hold parts of the outside material ({manifest.spec.source}), which may show persons."]
