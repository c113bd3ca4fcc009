"""Reads and writes safetensors files: a length, a JSON header, the arrays behind it."""
import json
import struct

import numpy

_TYPES = {"F32": "<f4", "U8": "u1"}


def write(path, arrays, metadata):
    """`arrays` maps names to numpy arrays; other types than u8 are stored as f32."""
    header = {"__metadata__": metadata}
    blobs = []
    offset = 0
    for name, array in arrays.items():
        kind = "U8" if array.dtype == numpy.uint8 else "F32"
        blob = numpy.ascontiguousarray(array).astype(_TYPES[kind]).tobytes()
        header[name] = {
            "dtype": kind,
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        offset += len(blob)
        blobs.append(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def read(path):
    """Returns (arrays, metadata)."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        blob = content[8 + length + begin : 8 + length + end]
        arrays[name] = numpy.frombuffer(blob, _TYPES[entry["dtype"]]).reshape(entry["shape"])
    return arrays, metadata
