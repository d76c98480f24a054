import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { SchemaTypes } from '../../../src/schema/types.gen.ts'
import {
  countTraces,
  makeWorld,
  readWorld,
  sendTraces,
  type World,
  WORLD_ENV,
} from '../../support/backups/backed-up-world.ts'
import { type CommandEnd, runCommand } from '../../support/run-command.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Servers start, and their data is saved and restored.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

/** Traces that are sent while the backup is made. */
const LATE = 60

describe('weir backup and weir restore on the embedded default', () => {
  const umask = process.umask()
  let folder: Awaited<ReturnType<typeof temporaryDir>>
  let weir: WeirProcess
  let world: World
  let before: Record<string, unknown>
  let late: string[] = []
  const at = (name: string): string => join(folder.dir, name)
  const command = (name: 'backup' | 'restore', dir: string, dataDir: string): Promise<CommandEnd> =>
    runCommand([name, at(dir)], { env: { DATA_DIR: at(dataDir) } })

  beforeAll(async () => {
    folder = await temporaryDir()
    weir = await startWeir(at('data'), WORLD_ENV)
    world = await makeWorld(weir, folder.dir)
    before = await readWorld(weir, world)
    const sending = (async () => {
      while (late.length < LATE) late = late.concat(await sendTraces(weir, 5))
    })()
    const made = await command('backup', 'live', 'data')
    await sending
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('traces: run_fragments')])
  })
  afterAll(async () => {
    process.umask(umask)
    if (weir?.isAlive()) await weir.kill()
    await folder?.remove()
  })

  it('gives back what was acknowledged before, made while the server ran, and nothing in halves', async () => {
    const restored = await command('restore', 'live', 'restored')
    expect([restored.code, restored.stderr.split('\n').at(-2)]).toEqual([
      0,
      expect.stringMatching(/^traces received since \S+Z, which the first start derives again$/),
    ])
    const second = await startWeir(at('restored'), WORLD_ENV)
    try {
      expect(await readWorld(second, world)).toEqual(before)
      const { counted, listed } = await countTraces(second)
      expect(counted).toBe(listed)
      expect(listed).toBeGreaterThanOrEqual(world.traces.length + 1)
    } finally {
      await second.stop()
    }
    const manifest = JSON.parse(
      await readFile(join(at('live'), 'manifest.json'), 'utf8'),
    ) as SchemaTypes['backup-manifest']
    const { started_at, late_since } = manifest
    expect(Date.parse(started_at) - Date.parse(late_since ?? '')).toBe(120_000)
  })

  it('gives back everything, made while no server ran', async () => {
    await weir.stop()
    expect((await command('backup', 'stopped', 'data')).code).toBe(0)
    expect((await command('restore', 'stopped', 'second')).code).toBe(0)
    const third = await startWeir(at('second'), WORLD_ENV)
    try {
      expect(await readWorld(third, world)).toEqual(before)
      const all = world.traces.length + 1 + late.length
      // Runs of the graph are also stored as traces.
      expect(await countTraces(third)).toEqual({ counted: all + 3, listed: all + 3 })
    } finally {
      await third.stop()
    }
  })

  it('refuses stores that are not empty, a folder that is not, and a backup that is damaged or incomplete', async () => {
    const codes = async (name: 'backup' | 'restore', dir: string, dataDir: string): Promise<unknown[]> => {
      const { code, stderr } = await command(name, dir, dataDir)
      return [code, /\((\w+)\)\s*$/.exec(stderr)?.[1]]
    }
    expect(await codes('restore', 'live', 'data')).toEqual([2, 'store_not_empty'])
    expect(await codes('backup', 'live', 'data')).toEqual([2, 'backup_unusable'])
    expect(await codes('backup', 'new', 'nothing')).toEqual([2, 'data_dir_unusable'])
    await appendFile(join(at('live'), 'traces', 'runs.zst'), 'x')
    expect(await codes('restore', 'live', 'third')).toEqual([2, 'backup_unusable'])
    expect(await readdir(at('third'))).toEqual(['.gitignore'])
    await writeFile(join(at('stopped'), 'manifest.json'), '{"format":2}')
    expect(await codes('restore', 'stopped', 'third')).toEqual([2, 'backup_unusable'])
    expect(await codes('restore', 'nowhere', 'third')).toEqual([2, 'backup_unusable'])
  })
})
