import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { staleReason } from './launch.mjs'

const LAUNCHER = fileURLToPath(new URL('launch.mjs', import.meta.url))

describe('staleReason', () => {
  const lock = {
    packages: {
      '': { version: '0.1.0' },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/a/node_modules/b': { version: '2.0.0' },
      'node_modules/other-platform': { version: '3.0.0', optional: true },
      'node_modules/tool': { version: '4.0.0', dev: true },
      'node_modules/new-tool': { version: '5.0.0', dev: true },
    },
  }
  const installed = {
    packages: {
      'node_modules/a': { version: '1.0.0' },
      'node_modules/a/node_modules/b': { version: '2.0.0' },
    },
  }

  it('accepts a matching install without other platforms and dev tools', () => {
    expect(staleReason(lock, installed)).toBeUndefined()
  })

  it('reports a missing install, a missing package and another version', () => {
    expect(staleReason(lock, undefined)).toContain('not installed')
    expect(staleReason(lock, { packages: {} })).toBe('a has changed')
    const older = {
      packages: { ...installed.packages, 'node_modules/a/node_modules/b': { version: '1.9.0' } },
    }
    expect(staleReason(lock, older)).toBe('b has changed')
    const oldTool = { packages: { ...installed.packages, 'node_modules/tool': { version: '3.0.0' } } }
    expect(staleReason(lock, oldTool)).toBe('tool has changed')
    const tool = { packages: { ...installed.packages, 'node_modules/tool': { version: '4.0.0' } } }
    expect(staleReason(lock, tool)).toBe('new-tool has changed')
  })

  it('reports nothing for a package without a lock file', () => {
    expect(staleReason(undefined, undefined)).toBeUndefined()
  })
})

describe('launch', () => {
  let dir: string
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-launch-'))
  })
  afterAll(() => rm(dir, { recursive: true }))

  function start(script: string, ...args: string[]) {
    const child = spawn(process.execPath, [LAUNCHER, script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
    const ended = new Promise<{ code: number | null; signal: string | null; output: string }>((resolve) =>
      child.on('close', (code, signal) => resolve({ code, signal, output })),
    )
    const saw = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => output.includes(text) && resolve()
        child.stdout.on('data', look)
        look()
      })
    return { child, ended, saw }
  }

  it('passes arguments and the exit code through', async () => {
    const script = join(dir, 'exit.mjs')
    await writeFile(script, 'console.log(process.argv.slice(2).join("+")); process.exit(7)')
    expect(await start(script, 'a', 'b').ended).toMatchObject({ code: 7, output: 'a+b\n' })
  })

  it('D-1: runs scripts on Node 24, whatever Node starts it', async () => {
    const script = join(dir, 'version.mjs')
    await writeFile(script, 'console.log(process.versions.node)')
    expect((await start(script).ended).output).toMatch(/^24\./)
  })

  it('passes SIGTERM through and waits for the graceful stop', async () => {
    const script = join(dir, 'serve.mjs')
    await writeFile(
      script,
      'process.on("SIGTERM", () => { console.log("bye"); process.exit(3) }); setInterval(() => {}, 1e6); console.log("up")',
    )
    const { child, ended, saw } = start(script)
    await saw('up')
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ code: 3, output: 'up\nbye\n' })
  })

  it('makes all processes store compiled code, in a folder that the caller may name', async () => {
    const script = join(dir, 'cache.mjs')
    await writeFile(script, 'console.log(process.env["NODE_COMPILE_CACHE"])')
    const child = (env: Record<string, string>) => spawnSync(process.execPath, [LAUNCHER, script], { env })
    const { PATH = '' } = process.env
    const own = join(dir, `weir-compile-cache-${process.getuid?.() ?? 'user'}`)
    expect(child({ PATH, TMPDIR: dir }).stdout.toString()).toBe(`${own}\n`)
    // Other users could write code into this folder.
    await chmod(own, 0o777)
    expect(child({ PATH, TMPDIR: dir }).stdout.toString()).toBe('undefined\n')
    expect(child({ PATH, NODE_COMPILE_CACHE: join(dir, 'own') }).stdout.toString()).toBe(
      `${join(dir, 'own')}\n`,
    )
  })

  it('prints its usage', async () => {
    expect(await start('').ended).toMatchObject({
      code: 1,
      output: expect.stringContaining('usage:') as string,
    })
  })
})

it.skipIf(process.platform !== 'linux')(
  'a server starts with the settings of its allocator, under the id of its launcher (on Linux: they are those of glibc)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-launch-'))
    try {
      await writeFile(join(folder, 'main.js'), 'console.log(process.env.MALLOC_MMAP_THRESHOLD_, process.pid)')
      const { MALLOC_MMAP_THRESHOLD_: _own, ...env } = process.env
      for (const [command, set] of [
        ['serve', '131072'],
        ['keys', 'undefined'],
      ] as const) {
        const { stdout, pid } = spawnSync(process.execPath, [LAUNCHER, join(folder, 'main.js'), command], {
          env,
        })
        expect(String(stdout).trim()).toBe(`${set} ${pid}`)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)
