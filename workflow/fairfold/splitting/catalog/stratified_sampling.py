"""Stratified sampling (SS)."""

from fairfold.splitting.spec import SplitterSpec

SPECS = (SplitterSpec("SS", "fairfold.splitting.stratified_sampling:StratifiedSampling"),)
