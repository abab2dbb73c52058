#!/usr/bin/env bash
#SBATCH --job-name={{NAME}}
#SBATCH --array={{ARRAY}}
#SBATCH --output="{{LOGS}}/%a.log"
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
# Lines that a site may need (remove one # to use one); {{ARRAY}}%8 above would keep to 8 tasks at once:
##SBATCH --time=08:00:00
##SBATCH --partition=gpu
##SBATCH --account=my-account
##SBATCH --gres=gpu:1
##SBATCH --cpus-per-task=8
##SBATCH --mem=32G

# A node that starts a server of its own does so here, and tells the worker where it is:
#   vllm serve /path/to/weights --served-model-name m --port 8000 &
#   until curl -sf http://127.0.0.1:8000/health; do sleep 2; done
#   export LITCASCADE_ENDPOINTS="m=http://127.0.0.1:8000/v1"

worker=""
trap '[ -n "$worker" ] && kill -TERM "$worker" 2>/dev/null' TERM
{{COMMAND}} work {{JOB}} "$SLURM_ARRAY_TASK_ID" &
worker=$!
wait "$worker"
code=$?
while kill -0 "$worker" 2>/dev/null; do # a signal ends the first wait before the worker has ended
    wait "$worker"
    code=$?
done
echo "shard $SLURM_ARRAY_TASK_ID ended with code $code"
# 3: incomplete, to be worked again, unless the task was cancelled. Everything else is done, or needs a person.
task="${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}"
if [ "$code" -eq 3 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt {{RESTARTS}} ] && [ "$(squeue -h -j "$task" -o %T)" = RUNNING ]; then
    scontrol requeue "$task" && sleep 60
fi
exit "$code"
