import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/schema/registry.ts'
import type { ValidationReport } from '../../../src/schema/types.gen.ts'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { inLong } from '../../support/length.ts'
import { useFolder } from '../../support/folder.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const corpus = (name: string, request = 2): string => join('test', 'corpus', name, `request-${request}.body`)
const VALID = corpus('ls-js-wrap-openai-chat')
const INVALID = corpus('ls-js-wrap-openai-chat-stream-nousage')

interface RunOptions {
  stdin?: Uint8Array
  node?: string[]
  env?: Record<string, string>
}

/** Runs `weir`; in a separate process where the test needs one. */
async function weir(args: string[], options: RunOptions = {}): Promise<CommandEnd> {
  const isAlone = args.includes('-') || options.node !== undefined
  return isAlone
    ? await spawnWeir(args, options)
    : await runCommand(args, { env: { ...process.env, ...options.env } })
}

async function spawnWeir(args: string[], { stdin, node = [], env }: RunOptions): Promise<CommandEnd> {
  const child = spawn(process.execPath, [...node, 'src/main.ts', ...args], {
    cwd: ROOT,
    env: { ...process.env, NODE_COMPILE_CACHE, ...env },
  })
  child.stdin.end(stdin)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ])
  return { code, stdout, stderr }
}

async function reportOn(
  args: string[],
  options?: RunOptions,
): Promise<ValidationReport & { code: number | null }> {
  const { code, stdout, stderr } = await weir(['validate', '--format', 'json', ...args], options)
  expect(stderr).toBe('')
  const report: unknown = JSON.parse(stdout)
  const checked = createRegistry().check('validation-report', report)
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults))
  return { ...checked.value, code }
}

let dir: string
useFolder((folder) => void (dir = folder))

async function fileOf(content: string | Uint8Array): Promise<string> {
  const path = join(dir, `capture-${Math.random()}`)
  await writeFile(path, content)
  return path
}

describe('weir validate', () => {
  // Only Linux has the file that is always full.
  it.skipIf(!existsSync('/dev/full'))(
    'exits 2 when the report cannot be written; a reader that ends early changes nothing',
    async () => {
      const into = async (target: string): Promise<string> => {
        const command = `"$0" src/main.ts validate --format json ${VALID} ${target}`
        const child = spawn('bash', ['-c', `set -o pipefail; ${command}`, process.execPath], { cwd: ROOT })
        const [code] = (await once(child, 'close')) as [number]
        return `${target}: ${code}`
      }
      expect(await Promise.all(['>/dev/full', '| true'].map(into))).toEqual(['>/dev/full: 2', '| true: 0'])
    },
  )

  it('exits 0 for valid runs and prints them', async () => {
    const { code, stdout, stderr } = await weir(['validate', VALID])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^✓ {2}ChatOpenAI {2}llm {2}openai\/gpt-4\.1-mini {2}[0-9a-f-]{36}\n/)
    expect(stdout).toMatch(/\n✓ 1 run \(1 llm\), 1 valid, 0 invalid, 0 rejected\n$/)
  })

  it('exits 1 for an llm run that fails a verdict, and says why', async () => {
    const { code, stdout } = await weir(['validate', INVALID])
    expect(code).toBe(1)
    expect(stdout).toContain('✗ usage    no usage_metadata; estimated with o200k_base')
  })

  it('exits 1 for a run that would be rejected, and names the field', async () => {
    const { code, stdout } = await weir(['validate', await fileOf('{"id":"nope","name":"x"}')])
    expect(code).toBe(1)
    expect(stdout).toContain('rejected  invalid_run_id at id  nope')
  })

  it('accepts multipart as captured, gzip and zstd alike', async () => {
    for (const name of ['ls-js-gzip', 'ls-py-multipart-rag', 'ls-py-zstd-rag']) {
      const report = await reportOn([corpus(name)])
      expect(report.summary.runs, name).toBe(5)
    }
  })

  it('accepts exports of OpenTelemetry as captured, in protobuf and in JSON', async () => {
    const summaries = new Map<string, unknown>()
    for (const name of [
      'otel-openinference-proto',
      'otel-openllmetry',
      'otel-vercel-proto',
      'otlp-json-edge',
    ]) {
      const { summary, runs } = await reportOn([corpus(name, 1)])
      summaries.set(name, [summary.runs, summary.llm_runs, summary.failed_checks])
      expect(runs.flatMap(({ issues }) => issues.map(({ code }) => code))).not.toContain('parent_unknown')
    }
    const failed = { run_type: 0, format: 0, model: 0, usage: 0 }
    expect([...summaries.values()]).toEqual([
      [11, 7, { ...failed, usage: 1 }],
      [12, 9, failed],
      // One of its calls was refused by the vendor, which counted nothing (D-60).
      [14, 6, failed],
      [1, 1, { ...failed, format: 1, model: 1 }],
    ])
  })

  inLong(() => {
    it('reads standard input, in any format', async () => {
      const run = JSON.stringify({ id: '01a1f83d-5201-7000-8000-00000000000a', name: 'x', run_type: 'tool' })
      const forms = [run, `[${run}]`, `{"patch":[${run}]}`, `${run}\n${run}\n`]
      for (const stdin of forms.flatMap((form) => [
        Buffer.from(form),
        gzipSync(form),
        zstdCompressSync(form),
      ])) {
        const { code, runs } = await reportOn(['-'], { stdin })
        expect({ code, names: runs.map(({ name }) => name) }).toEqual({ code: 0, names: ['x'] })
      }
    })
  })

  it('reads several files as one stream: an update completes what an earlier file created', async () => {
    const create = corpus('ls-py-multipart-rag', 2)
    const update = corpus('ls-py-multipart-rag', 3)
    const alone = await reportOn([create])
    const both = await reportOn([create, update])
    const inReverse = await reportOn([update, create])
    const streamed = (report: typeof alone) => report.runs.find(({ name }) => name === 'stream_llm')
    expect(streamed(alone)).toMatchObject({ checks: { usage: { reason: 'no usage_metadata yet' } } })
    expect(streamed(both)).toMatchObject({
      checks: { usage: { reason: expect.stringContaining('estimated') } },
    })
    expect(both.summary).toMatchObject({ runs: 5, failed_checks: { format: 0, usage: 1 } })
    expect(inReverse.summary).toEqual(both.summary)
  })

  it('exits 2 for an unreadable file, names it, and still reports the others', async () => {
    const { code, stdout, stderr } = await weir(['validate', VALID, 'test/gone.json', await fileOf('hello')])
    expect(code).toBe(2)
    expect(stdout).toContain('1 run (1 llm), 1 valid')
    expect(stderr).toMatch(/^weir validate: test\/gone\.json: There is no such file\./m)
    expect(stderr).toMatch(/capture-[\d.]+: The body is not valid JSON/)
  })

  it.each([
    ['no file', [], 'Name a file'],
    ['an unknown option', ['--colour', VALID], '--colour'],
    ['an unknown format', ['--format', 'xml', VALID], '--format must be one of human, json, github, junit'],
    ['an unknown colour mode', ['--color', 'red', VALID], '--color must be one of auto, always, never'],
    [
      'processors that do not load',
      ['--processors', 'gone.js', VALID],
      'gone.js. PROCESSORS and --processors name',
    ],
    ['nothing in the file', ['-'], 'standard input'],
  ])('exits 2 for %s and prints nothing', async (_, args, said) => {
    const { code, stdout, stderr } = await weir(['validate', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(said)
  })

  it('exits 2 for a batch without a run', async () => {
    const { code, stderr } = await weir(['validate', await fileOf('{"post":[]}')])
    expect(code).toBe(2)
    expect(stderr).toContain('There are no runs in it.')
  })

  it('prints help', async () => {
    const { code, stdout } = await weir(['validate', '--help'])
    expect(code).toBe(0)
    expect(stdout).toContain('human, json (the report of POST /runs/validate), github')
  })

  it('prints colour without a terminal only with a flag, and only the summary with --quiet', async () => {
    expect((await weir(['validate', VALID])).stdout).not.toContain('\u001b[')
    const loud = await weir(['validate', '--color', 'always', '-q', VALID])
    expect(loud.stdout).toContain('\u001b[32m✓')
    expect(loud.stdout.split('\n')).toHaveLength(2)
  })

  it("loads a user's own processors", async () => {
    const run = {
      id: '01a1f83d-5201-7000-8000-00000000000a',
      run_type: 'llm',
      inputs: { turns: [{ who: 'customer', said: 'Hi' }] },
      outputs: { reply: 'Hello' },
    }
    const file = await fileOf(JSON.stringify(run))
    const own = ['--processors', 'examples/processors/acme-chat.js']
    expect((await reportOn([file])).runs[0]?.checks.format?.ok).toBe(false)
    expect((await reportOn([...own, file])).runs[0]?.input_format).toBe('acme-chat')
  })
})

/** A module that Node preloads: it writes the URL of every module that is resolved to standard error. */
const RECORD_MODULES = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module'
import { writeSync } from 'node:fs'
registerHooks({ resolve(specifier, context, next) {
  const found = next(specifier, context)
  writeSync(2, found.url + '\\n')
  return found
} })`)}`

describe('what weir validate loads', () => {
  it('loads no server, store or telemetry, and of packages only the tokenizer and the prices', async () => {
    const { code, stderr } = await weir(['validate', INVALID], { node: ['--import', RECORD_MODULES] })
    expect(code).toBe(1)
    const urls = [...new Set(stderr.split('\n'))]
    const packages = urls.flatMap((url) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? [])
    expect(new Set(packages)).toEqual(new Set(packages.length === 0 ? [] : ['js-tiktoken']))
    const rooms = urls.flatMap((url) => /\/(src\/[^/]+|processors)\//.exec(url)?.[1] ?? [])
    expect([...new Set(rooms)].sort()).toEqual([
      'processors',
      'src/base',
      'src/cli',
      'src/schema',
      'src/trace',
    ])
    expect(urls.filter((url) => /\/src\/(config|telemetry|start\/.*)\.ts$/.test(url))).toEqual([])
  })
})
