#!/usr/bin/env bash
# A SLURM of one node on this machine, for a test: one_node.sh start|stop FOLDER. Needs root and Debian's slurm-wlm and
# munge; no systemd, no accounting. Its daemons listen on the loopback address alone.
set -euo pipefail
folder=${2:?a folder for states and logs}
host=$(hostname -s)

start_munge() {
    munge --no-input >/dev/null 2>&1 && return # one runs already and is left alone
    install -d -o munge -g munge -m 0755 /run/munge
    su -s /bin/sh munge -c /usr/sbin/munged
    cp /run/munge/munged.pid "$folder/munged.pid"
}

stop() {
    for daemon in slurmd slurmctld munged; do
        if [ -f "$folder/$daemon.pid" ]; then
            kill "$(cat "$folder/$daemon.pid")" 2>/dev/null || true
            rm -f "$folder/$daemon.pid"
        fi
    done
    if grep -q "^# Tilewright's test" /etc/slurm/slurm.conf 2>/dev/null; then
        rm -f /etc/slurm/slurm.conf /etc/slurm/gres.conf
    fi
}

case ${1:?start or stop} in
start)
    if [ -e /etc/slurm/slurm.conf ] && ! grep -q "^# Tilewright's test" /etc/slurm/slurm.conf; then
        echo "/etc/slurm/slurm.conf is there already: this machine has a SLURM of its own, which is left alone" >&2
        exit 1
    fi
    mkdir -p "$folder"/{state,spool,log} /etc/slurm
    start_munge
    # Inner `srun` calls find the file at this place only. More cores and memory than there are, so that what the
    # profile asks for fits; proctrack and task plug-ins that need no cgroups.
    cat >/etc/slurm/slurm.conf <<CONF
# Tilewright's test (tests/workflow/slurm/one_node.sh)
ClusterName=onenode
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
MinJobAge=300
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,sched_min_interval=0
GresTypes=gpu
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 RealMemory=128000 Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=1440 State=UP
CONF
    echo "NodeName=$host Name=gpu File=/dev/null" >/etc/slurm/gres.conf # a stand-in, so that \`gpu: 1\` can be had
    /usr/sbin/slurmctld -c
    /usr/sbin/slurmd -N "$host"
    for _ in $(seq 150); do sinfo -h -o %t 2>/dev/null | grep -q idle && exit 0; sleep 0.2; done
    echo "no node became idle; see $folder/log" >&2
    stop
    exit 1
    ;;
stop) stop ;;
esac
