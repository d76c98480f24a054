import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runStep } from '../build/run-step.ts'
import { openSandbox, temporaryOf } from './sandbox.ts'

const data = await mkdtemp(join(tmpdir(), 'weir-sandbox-'))
afterAll(() => rm(data, { recursive: true }))
const opened = await openSandbox({ env: process.env, packages: data, dataDir: data })
if ('reason' in opened) console.log(`skipped: the sandbox of builds: ${opened.reason}`)

describe.skipIf('reason' in opened)('P-20: a build in the sandbox', () => {
  it('has a /tmp of its own on the disk that is counted, which ends with it', async () => {
    if ('reason' in opened) return
    const dir = join(data, 'builds', 'one')
    const cache = join(data, 'cache')
    await mkdir(dir, { recursive: true })
    // From an earlier build of the revision, which was killed.
    await mkdir(temporaryOf(dir))
    await writeFile(join(temporaryOf(dir), 'earlier'), '')
    const build = await opened.builds(dir, { id: 'deployment', cache })
    expect(build.caches).toEqual([cache, temporaryOf(dir)])
    const command = 'test ! -e /tmp/earlier && echo text > "$TMPDIR/made" && cp /tmp/made .'
    await runStep(
      dir,
      { name: 'sh', title: 'sh', command: 'sh', args: ['-c', command] },
      {
        env: { PATH: process.env['PATH'] ?? '' },
        timeout_ms: 60_000,
        confine: build.confine,
        log: () => undefined,
        signal: new AbortController().signal,
        record: async () => async () => undefined,
      },
    )
    expect(await readFile(join(dir, 'made'), 'utf8')).toBe('text\n')
    expect(await readFile(join(temporaryOf(dir), 'made'), 'utf8')).toBe('text\n')
    await build.end()
    await expect(access(temporaryOf(dir))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
