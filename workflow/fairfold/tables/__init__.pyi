from .reading import read as read
from .table import Table as Table
