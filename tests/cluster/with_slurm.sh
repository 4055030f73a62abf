#!/bin/sh
# Run a command beside a Slurm of one node on this machine: with_slurm.sh COMMAND [ARGUMENT ...]
#
# Everything that Slurm keeps lies in a throw-away folder, and nothing outlives the command. Needs no root: every daemon
# runs as the caller, and nothing under /etc is read. Ends with 77 and a reason where there is no Slurm to start.
set -eu

skip() {
  echo "no Slurm: $1" >&2
  exit 77
}

PATH=$PATH:/usr/sbin:/sbin # where Debian puts daemons
for program in munged slurmctld slurmd sbatch srun squeue; do
  command -v "$program" > /dev/null || skip "$program is missing; tests/cluster/install.sh installs it"
done

folder=$(mktemp -d) && chmod 755 "$folder"
daemons="" command=""
end() { # the command, if it was interrupted, and its jobs, for which it would wait; then the daemons
  if [ -n "$command" ]; then
    { while sleep 0.5; do scancel --user="$user"; done; } > /dev/null 2>&1 & # it may submit more before it ends
    canceler=$!
    stop $command
    for _ in $(seq 20); do squeue --noheader 2> /dev/null | grep -q . && sleep 0.5 || break; done
    kill "$canceler" 2> /dev/null || true
  fi
  stop $daemons
  rm -rf "$folder"
}

stop() { # process ids: asked to end, and made to after ten seconds
  for process; do kill "$process" 2> /dev/null || true; done
  { sleep 10 && kill -KILL "$@"; } > /dev/null 2>&1 &
  impatience=$!
  for process; do wait "$process" 2> /dev/null || true; done
  kill "$impatience" 2> /dev/null || true
}

trap end EXIT
trap 'exit 130' INT TERM HUP

start() { # name of the daemon, its command; out of reach of an interrupt from the keyboard, as jobs are canceled first
  name=$1 && shift
  setsid "$@" > "$folder/$name.out" 2>&1 &
  daemons="$! $daemons" # the last started ends first
}

wait_for() { # what is waited for, the command that tells
  what=$1 && shift
  for _ in $(seq 60); do
    ! "$@" > /dev/null 2>&1 || return 0
    sleep 0.5
  done
  tail -n 20 "$folder"/*.out >&2
  echo "$what did not start within 30 s." >&2
  exit 1
}

cores=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # which would say what these allow, not what there is
node=$(hostname -s) user=$(id -un) memory=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
port=$((20000 + $$ % 6000 * 2)) # two runs at once seldom meet, and no port that the system lends is taken
mkdir "$folder/munge" "$folder/state" "$folder/spool" "$folder/bin"

# AccountingStorageType and JobCompType: none of the data bases behind sacct.
# TaskPlugin: binds jobs to the cores they asked for, without control groups.
# JobAcctGather: every second, ends jobs that use more memory than they asked for, without control groups.
# MinJobAge: the plugin reads the end of a job from squeue, so squeue must remember jobs.
# DefMemPerCPU: without it, a job that names no memory takes the whole node, also that of an inner srun.
cat > "$folder/slurm.conf" << END
ClusterName=throwaway
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill,UsePss
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerType=sched/backfill
DefMemPerCPU=500
MinJobAge=3600
KillWait=2
ReturnToService=2
PlugStackConfig=/dev/null
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$node Default=YES MaxTime=INFINITE State=UP
END
SLURM_CONF=$folder/slurm.conf && export SLURM_CONF

# The plugin's jobs drop SLURM_CONF before they call srun.
cat > "$folder/bin/srun" << END
#!/bin/sh
SLURM_CONF=$SLURM_CONF exec $(command -v srun) "\$@"
END
chmod 755 "$folder/bin/srun"
PATH=$folder/bin:$PATH && export PATH

(umask 077 && head -c 1024 /dev/urandom > "$folder/munge/key")
start munged munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
  --pid-file="$folder/munge/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munge/log"
wait_for munged munge --socket="$folder/munge/socket" --no-input
start slurmctld slurmctld -D
start slurmd slurmd -D -N "$node"
wait_for Slurm sh -c 'sinfo --noheader --states=idle --format=%t | grep -q idle'

# In the background, as sh would tend to no signal before a command in the foreground ends.
"$@" &
command=$!
wait "$command"
