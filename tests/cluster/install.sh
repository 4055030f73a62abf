#!/bin/sh
# Install Slurm from Debian's packages where that may be done; elsewhere say why not. The tests then skip.
set -u
PATH=$PATH:/usr/sbin:/sbin # where Debian puts daemons
for program in munged slurmctld slurmd sbatch; do
  command -v "$program" > /dev/null && continue
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "Slurm is not installed: that needs root and apt-get."
    exit 0
  fi
  export DEBIAN_FRONTEND=noninteractive
  set -- munge slurmctld slurmd slurm-client
  { apt-get update && apt-get install --yes --no-install-recommends "$@"; } > /dev/null 2>&1 ||
    echo "Slurm is not installed: apt-get failed on $*."
  exit 0
done
