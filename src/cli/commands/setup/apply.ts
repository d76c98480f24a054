import { readFile, writeFile } from 'node:fs/promises'
import { AppError } from '../../../base/errors.ts'
import { createRegistry } from '../../../schema/registry.ts'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { keysOfDocument } from '../../../setup/keys-of-document.ts'
import { API_FLAGS, API_HELP } from '../../arguments/api-flags.ts'
import { misusedWords, readArguments } from '../../arguments/command-arguments.ts'
import { FORMAT_FLAGS, FORMAT_HELP, wantsJson } from '../../arguments/output-format.ts'
import { connectApi } from '../../server/api-client.ts'
import type { TargetFlags } from '../../server/find-target.ts'
import { setupVariables } from '../../server/client-settings.ts'
import { printable } from '../../terminal/printable.ts'

const HELP = `Usage: weir setup apply FILE [--plan] [options]
       weir setup export [FILE] [options]

apply brings workspaces, members, service keys, prices, limits and feedback to the state that a YAML or JSON file
names. Only what it names is touched; all or nothing. The keys to which the file refers are read here, and sent.
export writes that file for what the server has, without keys, into a new FILE or to standard output.

Options:
  --plan           print what would change; the exit code is 2 if something would, 0 if not, 1 after an error
${FORMAT_HELP}
${API_HELP}
  -h, --help       print this`

const FLAGS = {
  ...API_FLAGS,
  plan: { type: 'boolean' },
  ...FORMAT_FLAGS,
} as const

type Plan = SchemaTypes['setup-plan']

/** Exit code of a plan with something to do. */
const TO_DO = 2
const FAILED = 1

/** `weir setup`: applies a set-up file, shows what would change, or writes one. */
export async function setup(args: string[]): Promise<number> {
  const { values, positionals } = readArguments(args, FLAGS, HELP)
  const [action, file, ...rest] = positionals
  if (action === 'export' && rest.length === 0 && values.plan !== true) return await exportSetup(values, file)
  if (action !== 'apply' || file === undefined || rest.length > 0)
    throw misusedWords(positionals, { apply: 'one file', export: 'at most one file, and no --plan' }, HELP)
  const asJson = wantsJson(values)
  const dry_run = values.plan === true
  try {
    const document = await readText(file)
    const keys = await keysOfDocument(document, { registry: createRegistry(), environment: setupVariables() })
    const api = await connectApi(values)
    const plan = await api.json<Plan>('/setup', { method: 'POST', body: { document, dry_run, keys } })
    const changes = plan.steps.filter((step) => step.action !== 'keep')
    console.log(asJson ? JSON.stringify(plan, null, 2) : planText(plan, changes.length))
    return dry_run && changes.length > 0 ? TO_DO : 0
  } catch (error) {
    // An error must not look like a plan with something to do.
    if (!(error instanceof AppError)) throw error
    console.error(`weir setup: ${error.message}`)
    return FAILED
  }
}

/** `weir setup export`: writes the set-up of the server into a new file, or to standard output. */
async function exportSetup(
  flags: TargetFlags & { tenant?: string | undefined },
  file: string | undefined,
): Promise<number> {
  const text = await (await connectApi(flags)).text('/setup')
  if (file === undefined) {
    process.stdout.write(text)
    return 0
  }
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    const isThere = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    const why = isThere ? 'exists already' : 'cannot be written'
    throw new AppError('invalid_request', { message: `The file ${file} ${why}.`, cause })
  }
  return 0
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new AppError('invalid_request', { message: `The file ${file} cannot be read.`, cause })
  }
}

const MARKS = { create: '+', change: '~', keep: ' ', delete: '-' } as const

function planText({ applied, steps }: Plan, changes: number): string {
  const lines = steps.map(({ section, name, action, fields }) => {
    const what = fields.length > 0 && action === 'change' ? `: ${fields.join(', ')}` : ''
    return `${MARKS[action]} ${section} ${printable(name)} ${action}${what}`
  })
  const end = applied ? 'changed' : 'to change'
  return [...lines, `${changes} ${end}, ${steps.length - changes} kept.`].join('\n')
}
