import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { NODE_COMPILE_CACHE } from '../../support/compile-cache.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { PATIENCE_MS } from '../../support/eventually.ts'
import { PYTHON, withoutPython } from '../../support/python.ts'
import { inLong } from '../../support/length.ts'
import { useFolder } from '../../support/folder.ts'

// Servers start from nothing, which takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

// Runs the commands of README and docs/first-steps.md on a machine where other programs use both default ports.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const WEIR = join(ROOT, 'bin/weir.mjs')
const RUN = '4612d97d-00b9-4ade-a923-27bbbf7f98d0'

let dir: string
const strangers: Server[] = []
/**
 * Default ports on which this file listens. A default port that another program uses is not listed, because that
 * program may release it.
 */
const held: number[] = []
let weir: Running
/** Everything that was sent to the servers at the default ports; it must not contain a key. */
let overheard = ''

/** A server started like `npm start`. */
interface Running {
  /** Standard output so far. */
  stdout(): string
  stderr(): string
  /** Resolves with the exit code. */
  ended: Promise<number | null>
  /** Sends SIGTERM. */
  end(): Promise<number | null>
}

/** No settings except DATA_DIR, whose default would be a folder in the clone. */
function environment(extra: Record<string, string> = {}): Record<string, string | undefined> {
  const { PATH, HOME } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE, DATA_DIR: join(dir, 'data'), ...extra }
}

function start(extra: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [WEIR, 'serve'], { cwd: ROOT, env: environment(extra) })
  process.once('exit', () => child.kill('SIGKILL'))
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => void (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (stderr += text))
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const end = (): Promise<number | null> => {
    child.kill('SIGTERM')
    return ended
  }
  return { stdout: () => stdout, stderr: () => stderr, end, ended }
}

async function occupy(port: number): Promise<void> {
  const server = createServer((socket) => socket.on('data', (bytes) => void (overheard += bytes.toString())))
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return
  }
  strangers.push(server)
  held.push(port)
}

/** Runs a block of a page in a shell, in the clone. */
async function paste(script: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn('bash', ['-e', '-c', script], { cwd: ROOT, env: environment() })
  child.stdin.end()
  const [stdout, stderr, [code]] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, stdout, stderr }
}

async function block(begins: string): Promise<string> {
  const page = await readFile(join(ROOT, 'docs/first-steps.md'), 'utf8')
  const blocks = [...page.matchAll(/^```(?:sh|python)\n([\s\S]*?)^```/gm)].map(([, text = '']) => text)
  const found = blocks.find((text) => text.startsWith(begins))
  if (found === undefined) throw new Error(`docs/first-steps.md has no block that begins with ${begins}`)
  return found
}

useFolder(async (made) => {
  dir = made
  for (const port of [1984, 2024]) await occupy(port)
})
afterAll(async () => {
  expect(await weir?.end()).toBe(0)
  for (const server of strangers) server.close()
})

describe('a first start on a machine whose default ports are taken', () => {
  it('fails for a configured port that is taken, before it creates files', async () => {
    const port = (strangers[0] ?? (await anyServer())).address() as { port: number }
    const failed = start({ PORT: String(port.port), DEPLOYMENT_PORT: '0', GRAPHS: '' })
    expect(await failed.ended).toBe(2)
    expect(failed.stderr()).toContain(`127.0.0.1:${port.port} is in use, and PORT names it.`)
    expect(failed.stderr()).not.toMatch(/\n +at /)
    expect(existsSync(join(dir, 'data'))).toBe(false)
  })

  it('prints address, key and ports, also without a terminal', async () => {
    const started = start()
    weir = started
    await until('it says where it listens', () => started.stderr().includes('API documentation'), PATIENCE_MS)
    const key = await readFile(join(dir, 'data/api-key'), 'utf8')
    const banner = started.stderr()
    expect(banner).toContain(`export LANGSMITH_API_KEY=${key.trim()}\n`)
    const listening =
      started
        .stdout()
        .split('\n')
        .find((line) => line.includes('"listening"')) ?? '{}'
    const { url, deployment_url } = JSON.parse(listening) as { url: string; deployment_url: string }
    expect(banner).toContain(`export LANGSMITH_ENDPOINT=${url}\n`)
    expect(banner).toContain(`Point a LangGraph client at ${deployment_url}`)
    for (const port of held) {
      expect([url, deployment_url].join()).not.toContain(`:${port}`)
      expect(banner).toContain(`Port ${port} is taken, using `)
    }
    expect(await readFile(join(dir, 'data/.gitignore'), 'utf8')).toBe('*\n')
    expect((await stat(join(dir, 'data/server.json'))).mode & 0o777).toBe(0o600)
  })

  it('stores and reads a run with the commands of docs/first-steps.md', async () => {
    const script = [await block('eval'), await block('now=')].join('\n')
    // A read right after a write may return 404, as the page states.
    let read = ''
    await until(
      'the run is read',
      async () => {
        const { code, stdout, stderr } = await paste(script)
        expect([code, stderr]).toEqual([0, expect.not.stringContaining('weir')])
        read = stdout
        return read.includes('"prompt_tokens"')
      },
      PATIENCE_MS,
    )
    expect(read).toContain(RUN)
  })

  it('sends a trace from JavaScript', async () => {
    const script = await block(`node --input-type=module -e '\nimport { Client } from "langsmith"`)
    const { code, stdout, stderr } = await paste([await block('eval'), script].join('\n'))
    expect([code, stdout, stderr]).toEqual([0, 'You said: Hi there\n', ''])
  })

  it('runs a graph', async () => {
    const { code, stdout, stderr } = await paste(
      [
        await block('eval'),
        await block('node --input-type=module -e \'\nimport { Client } from "@langchain'),
      ].join('\n'),
    )
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^.*Hello there.*\n.*Hello there.*\n\d+\n$/)
  })

  inLong(() => {
    it('shows reports on runs', async () => {
      const { stdout, stderr } = await paste(`set +e\n${await block('npm run weir -- validate')}`)
      expect(stderr).not.toContain('weir')
      expect(stdout).toContain('Fix: Put usage_metadata with input_tokens')
    })

    it('creates workspaces, members and keys', async () => {
      const { code, stdout, stderr } = await paste(await block('npm run weir -- workspaces create'))
      expect([code, stderr]).toEqual([0, expect.not.stringContaining('weir')])
      expect(stdout).toMatch(/lsv2_pt_\w+[\s\S]* Ada's laptop [\s\S]*lsv2_sk_\w+[\s\S]* support bot /)
    })

    it.skipIf(withoutPython() !== '')(`runs the Python commands of the page${withoutPython()}`, async () => {
      const blocks = await Promise.all([block('from langsmith'), block('import asyncio')])
      for (const python of blocks) {
        const { code, stdout, stderr } = await paste(
          `${await block('eval')}${PYTHON} <<'README'\n${python}\nREADME`,
        )
        expect([code, stderr]).toEqual([0, ''])
        expect(stdout).toMatch(/^(\{.*'content': 'Hello!'.*\}|.*Hello there.*\n.*Hello there.*)\n$/)
      }
    })
  })

  it('is found by commands of both APIs without settings, which send its key to no other program', async () => {
    const { code, stdout, stderr } = await paste('node bin/weir.mjs usage && node bin/weir.mjs runs list')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/Traces per day[\s\S]*RUN +THREAD +GRAPH[\s\S]* agent +success/)
    const key = (await readFile(join(dir, 'data/api-key'), 'utf8')).trim()
    expect(overheard).not.toContain(key)
  })

  inLong(() => {
    it('makes a second start fail with the address of the server', async () => {
      const second = start()
      expect(await second.ended).toBe(2)
      expect(second.stderr()).toMatch(
        /^weir serve: A server runs on .*data already, at http:\S+ \(process \d+\)\. Use that one, stop it, or set DATA_DIR/,
      )
      expect(second.stderr()).not.toMatch(/\n +at /)
    })
  })
})

async function anyServer(): Promise<Server> {
  const server = createServer()
  strangers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}
