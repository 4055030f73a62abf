"""Partitioned sampling (PMBSRS)."""

from fairfold.splitting.spec import SplitterSpec

SPECS = (SplitterSpec("PMBSRS", "fairfold.splitting.partitioned:PartitionedSampling"),)
