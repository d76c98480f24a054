import { misused, misusedWords, readArguments } from '../arguments/command-arguments.ts'
import { deleteDeployment, rollBack } from '../deploy/change-deployment.ts'
import { CONNECTION_FLAGS, CONNECTION_HELP, connectDeployments } from '../deploy/connection.ts'
import { deployProject } from '../deploy/deploy-project.ts'
import { jsonProgress, type Progress, textProgress } from '../deploy/progress.ts'
import { readProject, wantedName } from '../deploy/project.ts'
import { showDeployments, showRevisions } from '../deploy/show-deployments.ts'
import { showLogs } from '../deploy/show-logs.ts'
import { Refusal } from '../server/api-client.ts'
import { printableLines } from '../terminal/printable.ts'

const HELP = `Usage: weir deploy [--name NAME] [options]
       weir deploy list
       weir deploy logs [NAME|ID] [--type TYPE] [--follow]
       weir deploy revisions NAME|ID
       weir deploy rollback NAME|ID [NUMBER]
       weir deploy delete NAME|ID [--force]

Deploys the LangGraph project of this folder: its source is uploaded, its dependencies are installed by the server, and
the new revision replaces the active one once it answers. The variables of .env become secrets of the deployment.
docs/graphs/deployments.md has more.

  list             the deployments of the workspace
  logs             the last lines of a log
  revisions        what was deployed when, and how it ended
  rollback         to an earlier revision, without a build, with the present secrets (default: the one that served before)
  delete           a deployment with its threads, crons, store and secrets

Options:
  --name NAME       deploy, logs: the deployment (default: LANGSMITH_DEPLOYMENT_NAME, else the name of the folder)
  --deployment-type TYPE
                    dev or prod: how many processes it may use; fixed when it is made (default: dev)
  --config FILE     the langgraph.json (default: the one in this folder)
  --env-file FILE   the secrets (default: env of langgraph.json, else .env)
  --no-wait         end as soon as the revision exists
  --verbose         print the lines of the build
  --type TYPE       logs: deploy, build or server (default: deploy, which has both states and what processes print)
  --revision N      logs: of this revision
  --level LEVEL     logs: this level and higher ones
  -q, --query TEXT  logs: lines with this text
  --since TIME      logs: from this time on, such as 2026-11-20T09:00:00Z, or 12h or 30d ago
  --limit N         logs, revisions: maximum number of lines (default: 100)
  -f, --follow      logs: continue until stopped
  --force           delete: do not ask
  --json            JSON for programs
${CONNECTION_HELP}
  -h, --help        print this

Exit code: 0 when the deployment serves, 1 when the server refused it or the revision failed or took too long, 2 when the
command could not send its request, 130 when it was stopped; a build then continues.`

const FLAGS = {
  ...CONNECTION_FLAGS,
  name: { type: 'string' },
  'deployment-type': { type: 'string' },
  config: { type: 'string' },
  'env-file': { type: 'string' },
  'no-wait': { type: 'boolean' },
  verbose: { type: 'boolean' },
  type: { type: 'string' },
  revision: { type: 'string' },
  level: { type: 'string' },
  query: { type: 'string', short: 'q' },
  since: { type: 'string' },
  limit: { type: 'string' },
  follow: { type: 'boolean', short: 'f' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

const ACTIONS = {
  list: 'options only',
  logs: 'one name or id',
  revisions: 'one name or id',
  rollback: 'one name or id, and a number of a revision',
  delete: 'one name or id',
}
const MAX_WORDS: Readonly<Record<string, number>> = { list: 0, logs: 1, revisions: 1, rollback: 2, delete: 1 }
const STOPPED = 130
const MAX_LIMIT = 1000

type Flags = ReturnType<typeof readFlags>['values']

/** `weir deploy`: deploys the project of a folder, and shows and changes deployments. */
export async function deploy(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  const [action] = positionals
  if (action !== undefined && !Object.hasOwn(ACTIONS, action)) throw misusedWords(positionals, ACTIONS, HELP)
  const stopped = Promise.withResolvers<number>()
  process.once('SIGINT', () => {
    if (action === undefined) console.error('\nStopped. What was uploaded is built and started all the same.')
    stopped.resolve(STOPPED)
  })
  const code = await Promise.race([stopped.promise, act(positionals, values).catch(refused)])
  // Ends the process, because a request or a timer may still be open.
  if (code === STOPPED) process.exit(STOPPED)
  return code
}

function readFlags(args: string[]) {
  return readArguments(args, FLAGS, HELP)
}

/** The exit code of an error: 1 if the server refused the deployment, 2 if no request was sent (P-43). */
function refused(error: unknown): number {
  if (!(error instanceof Refusal) || error.answered === 401) throw error
  console.error(`weir deploy: ${printableLines(error.message)}${HINTS[error.answeredCode ?? ''] ?? ''}`)
  return 1
}

/** What to do when the server refuses the key, by the code of its error. */
const HINTS: Readonly<Record<string, string>> = {
  permission_required:
    ' Use a key with the role admin or operator: weir keys create --role operator creates one.',
  workspace_required: ' weir deploy sends the workspace that --workspace names.',
}

async function act([action, ...words]: string[], flags: Flags): Promise<number> {
  if (action === undefined) return await deployProject(flags, progressOf(flags))
  const project = await readProject(flags).catch(() => undefined)
  const ownName = action === 'logs' && project !== undefined ? wantedName(project).name : ''
  const [word = flags.name ?? ownName, number] = words
  if (words.length > (MAX_WORDS[action] ?? 0) || (action !== 'list' && word === ''))
    throw misusedWords([action, ...words], ACTIONS, HELP)
  const api = await connectDeployments(flags, project?.env ?? {})
  const asJson = flags.json === true
  const limit = limitOf(flags)
  if (action === 'list') return await showDeployments(api, asJson)
  if (action === 'revisions') return await showRevisions(api, { word, limit: Math.min(limit, 100), asJson })
  if (action === 'rollback') return await rollBack(api, { word, number }, progressOf(flags))
  if (action === 'delete') return await deleteDeployment(api, { word, isForced: flags.force === true })
  return await showLogs(api, word, { ...flags, limit, follow: flags.follow === true, asJson })
}

function progressOf({ json }: Flags): Progress {
  const output = {
    stdout: (text: string) => void process.stdout.write(text),
    stderr: (text: string) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY,
    now: () => new Date(),
  }
  return json === true ? jsonProgress(output) : textProgress(output)
}

function limitOf({ limit = '100' }: Flags): number {
  const number = /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (number >= 1 && number <= MAX_LIMIT) return number
  throw misused(`--limit must be a number from 1 to ${MAX_LIMIT}. It is "${limit}".`, HELP)
}
