import pytest
from PIL import Image

from fairfold.errors import DamagedFileError
from fairfold.report.images import embedded_image


def test_a_figure_is_embedded_whole_or_refused(tmp_path):
    path = tmp_path / "a.png"
    Image.new("RGB", (200, 100)).save(path)
    assert embedded_image(path)["width"] == 96
    for content in (path.read_bytes()[:-20], b""):
        path.write_bytes(content)
        with pytest.raises(DamagedFileError, match=r"a\.png: expected a figure"):
            embedded_image(path)
