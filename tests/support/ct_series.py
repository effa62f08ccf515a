"""Tiny CT series in DICOM files, and the XML of LIDC-IDRI's readers: what tests of their importers share."""

import numpy as np
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

INTERCEPT = -1024
UPRIGHT = (1, 0, 0, 0, 1, 0)


def write_slice(path, values, height, *, series, patient, number=1, turns=UPRIGHT, slope=1, **tags):
    """A slice of Hounsfield units as they are stored; a tag of None is left out."""
    data = Dataset()
    data.file_meta = FileMetaDataset()
    data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    data.SOPClassUID = data.file_meta.MediaStorageSOPClassUID = CTImageStorage
    data.SOPInstanceUID = data.file_meta.MediaStorageSOPInstanceUID = generate_uid(entropy_srcs=[str(path)])
    data.Modality, data.PatientID, data.SeriesInstanceUID, data.InstanceNumber = "CT", patient, series, number
    data.ImageOrientationPatient, data.ImagePositionPatient = list(turns), [-100, -100, height]
    data.PixelSpacing, data.SliceThickness = [0.7, 0.7], 2.5
    data.Rows, data.Columns = values.shape
    data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
    data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
    data.RescaleSlope, data.RescaleIntercept = slope, INTERCEPT
    data.PixelData = ((values - INTERCEPT) // slope).astype(np.int16).tobytes()
    for name, value in tags.items():
        if value is None:
            delattr(data, name)
        else:
            setattr(data, name, value)
    path.parent.mkdir(parents=True, exist_ok=True)
    pydicom.dcmwrite(path, data, enforce_file_format=True)


def cut_short(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def ring(top, left, bottom, right):
    """The pixels around a rectangle, which they surround, in turn: (column, row)."""
    rows, columns = range(top - 1, bottom + 1), range(left - 1, right + 1)
    return [
        *((column, top - 1) for column in columns[:-1]),
        *((right, row) for row in rows[:-1]),
        *((column, bottom) for column in columns[:0:-1]),
        *((left - 1, row) for row in rows[:0:-1]),
    ]


def roi(height, points, inside="TRUE"):
    edges = "".join(f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in points)
    return f"<roi><imageZposition>{height}</imageZposition><inclusion>{inside}</inclusion>{edges}</roi>"


def write_xml(path, series, sessions):
    """The nodules of each reader, each of which is a list of rois."""
    text = "".join(
        "<readingSession>"
        + "".join(f"<unblindedReadNodule><noduleID>{number}</noduleID>{''.join(rois)}</unblindedReadNodule>"
                  for number, rois in enumerate(nodules))
        + "<nonNodule><nonNoduleID>n</nonNoduleID><imageZposition>0</imageZposition>"
        "<locus><xCoord>1</xCoord><yCoord>1</yCoord></locus></nonNodule></readingSession>"
        for nodules in sessions
    )  # fmt: skip
    header = f"<ResponseHeader><SeriesInstanceUid>{series}</SeriesInstanceUid></ResponseHeader>"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'<?xml version="1.0"?><LidcReadMessage xmlns="http://www.nih.gov">{header}{text}</LidcReadMessage>'
    )


def greys(values, low, high):
    """Hounsfield units between black and white as uint8 (H, W, 3), one by one."""
    shares = [[min(max((value - low) / (high - low), 0.0), 1.0) for value in row] for row in values.tolist()]
    return np.repeat(
        np.array([[round(255 * share) for share in row] for row in shares], np.uint8)[..., None], 3, axis=2
    )
