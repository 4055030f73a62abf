from . import generate as generate
from .catalog import Catalog as Catalog, Entry as Entry, load_catalog as load_catalog
from .dataset import Dataset as Dataset
from .preparation import prepare as prepare
