import { AppError } from '../../../base/errors.ts'
import { misusedWords, readArguments } from '../../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../../arguments/output-format.ts'
import { verifyCluster } from '../../cluster/verify-cluster.ts'
import { connectApi } from '../../server/api-client.ts'
import { textTable } from '../../terminal/text-table.ts'

const HELP = `Usage: weir cluster verify --server URL --server URL [...] [options]

Tries servers that share their stores: sends traces to all of them, and checks that each of them shows every trace once,
counts it and deletes it. The traces are in a project of their own, which is deleted at the end; usage keeps their
number. Kill and start servers or stores while traces are sent, to see what your cluster does then.

Options:
  --server URL     a server, not the balancer; repeat it for each
  --rate N         traces a second (default: 20)
  --seconds N      how long they are sent (default: 60)
  --patience N     seconds within which all servers must show the same (default: 120)
${FORMAT_HELP}
  --key KEY        an API key that may count usage (default: WEIR_API_KEY)
  --tenant ID      the workspace to act in, for a key that serves several and has no default
  -h, --help       print this

Exit code: 0 if everything holds, 1 if not, 2 when a server does not answer at the start.`

const FLAGS = {
  server: { type: 'string', multiple: true, default: [] as string[] },
  rate: { type: 'string', default: '20' },
  seconds: { type: 'string', default: '60' },
  patience: { type: 'string', default: '120' },
  ...FORMAT_FLAGS,
  key: { type: 'string' },
  tenant: { type: 'string' },
} as const

/** `weir cluster verify`: tries the servers of a cluster. */
export async function cluster(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  if (positionals.length !== 1 || positionals[0] !== 'verify')
    throw misusedWords(positionals, { verify: 'only options' }, HELP)
  const asJson = wantsJson(values)
  if (values.server.length === 0)
    throw new AppError('invalid_request', { message: 'Name each server of the cluster with --server URL.' })
  const [rate, seconds, patience] = [
    wholeNumber('--rate', values.rate),
    wholeNumber('--seconds', values.seconds),
    wholeNumber('--patience', values.patience),
  ]
  const { key, tenant } = values
  const servers = await Promise.all(values.server.map((url) => connectApi({ url, key, tenant })))
  const onStep = (text: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${text}`)
  const checks = await verifyCluster(servers, { rate, seconds, patience: patience * 1000, onStep })
  const rows = checks.map(({ name, passed, detail }) => [name, passed ? 'ok' : 'FAILED', detail])
  console.log(asJson ? JSON.stringify(checks, null, 2) : textTable(['CHECK', 'RESULT', 'DETAIL'], rows))
  return checks.every(({ passed }) => passed) ? 0 : 1
}

function wholeNumber(flag: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new AppError('invalid_request', {
    message: `${flag} is a whole number from 1 to 999999. It is "${text}".`,
  })
}
