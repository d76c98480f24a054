import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const TEMPLATE = new URL('../../../deploy/helm/templates/backup.yaml', import.meta.url)
const run = promisify(execFile)
const KEEP = 2
const DAY_MS = 86_400_000

/** The script of the job in the chart, for backups in `folder`. */
async function scriptFor(folder: string): Promise<string> {
  const text = await readFile(TEMPLATE, 'utf8')
  const [, block = ''] = /- -ec\n\s+- \|\n([\s\S]+?)\n {14}env:/.exec(text) ?? []
  return block
    .replace(/^ {18}/gm, '')
    .replace('{{ .Values.backup.keep }}', String(KEEP))
    .replaceAll('/backups', folder)
}

describe("the script of the chart's backups", () => {
  let root: string
  let folder: string
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'weir-backups-'))
    folder = join(root, 'backups')
    await mkdir(folder)
  })
  afterEach(() => rm(root, { recursive: true }))

  /** Runs the script with a `weir backup` that does this; returns whether it succeeded. */
  async function backUp(weir: string): Promise<boolean> {
    await writeFile(join(root, 'node'), `#!/bin/sh\n${weir}\n`, { mode: 0o755 })
    const env = { PATH: `${root}:${process.env['PATH'] ?? ''}` }
    return await run('sh', ['-ec', await scriptFor(folder)], { env }).then(
      () => true,
      () => false,
    )
  }
  /** A backup of an earlier day; without a manifest it was never finished. */
  async function earlier(name: string, { isWhole = true, ageMs = 2 * DAY_MS } = {}): Promise<void> {
    const dir = join(folder, name)
    await mkdir(dir)
    if (isWhole) await writeFile(join(dir, 'manifest.json'), '{}')
    const time = new Date(Date.now() - ageMs)
    await utimes(dir, time, time)
  }
  const WRITES = 'mkdir "$3" && touch "$3/manifest.json"'
  const names = async (): Promise<string[]> => (await readdir(folder)).toSorted()

  it('keeps the newest backups, and whatever is none', async () => {
    await mkdir(join(folder, 'lost+found'))
    for (const day of ['01', '02', '03']) await earlier(`202601${day}T030000Z`)
    expect(await backUp(WRITES)).toBe(true)
    const [first, second, rest] = await names()
    expect([first, rest]).toEqual(['20260103T030000Z', 'lost+found'])
    expect(second).toMatch(/^20\d{6}T\d{6}Z$/)
  })

  it('keeps the earlier ones when the backup fails, and leaves no part of it', async () => {
    for (const day of ['01', '02', '03']) await earlier(`202601${day}T030000Z`)
    expect(await backUp('mkdir "$3" && exit 1')).toBe(false)
    expect(await names()).toEqual(['20260101T030000Z', '20260102T030000Z', '20260103T030000Z'])
  })

  it('counts no folder of a killed job, removes it after a day, and not that of a job that still writes', async () => {
    await earlier('20260101T030000Z')
    await earlier('20260102T030000Z', { isWhole: false })
    await earlier('20260103T030000Z', { isWhole: false, ageMs: DAY_MS / 2 })
    expect(await backUp(WRITES)).toBe(true)
    expect(await names()).toEqual([
      '20260101T030000Z',
      '20260103T030000Z',
      expect.stringMatching(/^20\d{6}T\d{6}Z$/),
    ])
  })
})
