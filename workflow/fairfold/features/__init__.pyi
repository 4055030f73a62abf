from .encoder import TableEncoder as TableEncoder
from .roles import ROLES as ROLES, ColumnRole as ColumnRole, find_roles as find_roles
