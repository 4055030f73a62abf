"""Partitioned sampling (PMBSRS)."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.partitioned:PartitionedSampling"
SPECS = (SplitterSpec("PMBSRS", _CLASS, phrase="partitioned sampling by label sets (PMBSRS)"),)
