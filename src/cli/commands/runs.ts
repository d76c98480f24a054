import { DEPLOYMENT_HELP } from '../arguments/api-flags.ts'
import { runsCancel } from './runs/cancel.ts'
import { uuidArgument, misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { RUNS_FLAGS } from './runs/flags.ts'
import { listRuns } from './runs/list.ts'
import { wantsJson } from '../arguments/output-format.ts'
import { tailRuns } from './runs/tail.ts'

const HELP = `Usage: weir runs list [--thread ID] [--status STATUS] [--limit N]
       weir runs cancel RUN_ID… [--action ACTION] [--wait]
       weir runs cancel --status STATUS [--action ACTION] [--wait]
       weir runs tail RUN_ID
       weir runs tail --thread ID [--mode MODE] [--from-start]

Runs of a deployment: of one thread, or of all that the key may see.

  list             newest first
  cancel           runs by their ids, or all that are pending, running or both (all)
  tail             prints the events of a run, one a line, until it has ended, from the first that is kept; or those of
                   all runs of a thread from now on, until it is stopped. After a broken connection it continues
                   after the last event that was printed.

Options:
  --thread ID      runs of this thread
  --status STATUS  list: pending, running, success, error, timeout or interrupted; cancel: pending, running or all
  --limit N        maximum number of runs (default: 20)
  --action ACTION  interrupt keeps the checkpoints of the run; rollback deletes the run and its checkpoints
                   (default: interrupt)
  --wait           wait until the runs have ended
  --mode MODE      run_modes, lifecycle or state_update; may be repeated (default: run_modes)
  --from-start     with --thread: first print the stored events of earlier runs
  --format WORD    table for people, or json as the API gives it, for tail an event a line (default: table)
${DEPLOYMENT_HELP}
  -h, --help       print this

The exit code of tail is 1 when the run failed, that of cancel when one of the runs did not exist or was not active.`

const ACTIONS = {
  list: 'options only',
  cancel: 'either ids of runs or --status STATUS',
  tail: 'either the id of one run or --thread ID',
}

/** `weir runs`: lists, cancels or follows runs of a deployment. */
export async function runs(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, RUNS_FLAGS, HELP)
  const [action, ...words] = positionals
  if (action === undefined || !Object.hasOwn(ACTIONS, action)) throw misusedWords(positionals, ACTIONS, HELP)
  const flags = { ...values, asJson: wantsJson(values) }
  const run_ids = words.map((word) => uuidArgument(word, 'run', 'weir runs list'))
  const [run_id] = run_ids
  const { status } = values
  const thread = values.thread && uuidArgument(values.thread, 'thread', 'weir runs list')
  if (action === 'list' && run_id === undefined) return listRuns(flags)
  if (action === 'cancel' && (run_id === undefined) !== (status === undefined))
    return runsCancel(run_ids, flags)
  if (action === 'tail' && run_id !== undefined && run_ids.length === 1 && thread === undefined)
    return tailRuns({ run_id }, flags)
  if (action === 'tail' && run_id === undefined && thread !== undefined)
    return tailRuns({ thread_id: thread }, flags)
  throw misusedWords(positionals, ACTIONS, HELP)
}
