"""Stratified sampling (SS)."""

from fairfold.splitting.spec import SplitterSpec

_CLASS = "fairfold.splitting.stratified_sampling:StratifiedSampling"
SPECS = (SplitterSpec("SS", _CLASS, phrase="stratified sampling for many labels (SS)"),)
