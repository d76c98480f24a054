import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startTime } from '../../../src/storage/child-processes.ts'
import { type ClickHouse, connectClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import {
  type EmbeddedClickHouse,
  startEmbeddedClickHouse,
} from '../../../src/storage/clickhouse/embedded/start.ts'
import { createLogger } from '../../../src/base/log.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import {
  startTestClickHouse,
  temporaryDir,
  until,
} from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { fixedPort } from '../../support/fixed-port.ts'
import { inLong } from '../../support/length.ts'

const START = 'storage/clickhouse/embedded/start.ts'

let folder: Awaited<ReturnType<typeof temporaryDir>>
const cleanups: (() => Promise<void>)[] = []

beforeEach(async () => {
  folder = await temporaryDir()
})

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  await folder.remove()
})

async function start(): Promise<EmbeddedClickHouse> {
  const engine = await startTestClickHouse(folder.dir)
  cleanups.push(() => engine.stop())
  return engine
}

function connect(engine: { url: string; username: string; password: string }, database = 'weir'): ClickHouse {
  const db = connectClickHouse({ ...engine, database })
  cleanups.push(() => db.close())
  return db
}

async function spawnParent(): Promise<{
  kill: () => void
  child: { pid: number; url: string; username: string; password: string }
}> {
  const script = fileURLToPath(new URL('../../support/stores/clickhouse/embedded-parent.ts', import.meta.url))
  const parent = spawn(process.execPath, [script, folder.dir], { stdio: ['ignore', 'pipe', 'inherit'] })
  cleanups.push(async () => void parent.kill('SIGKILL'))
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string]
  return { kill: () => parent.kill('SIGKILL'), child: JSON.parse(line) }
}

function numbered(from: number, count: number): Uint8Array {
  const writer = new RowWriter()
  for (let i = from; i < from + count; i++) {
    writer.u32(i)
    writer.string(`body ${i} `.repeat(50))
  }
  return writer.finish()
}

describe('death of the embedded engine, a process of its own (D-3)', () => {
  it('kill -9 under load loses no confirmed row and stores none twice', async () => {
    let engine = await start()
    let db = connect(engine)
    await db.createDatabase()
    await db.command('CREATE TABLE t (n UInt32, body String) ENGINE = ReplacingMergeTree ORDER BY n')
    let confirmed = 0
    for (let round = 0; round < 3; round++) {
      const victim = engine
      const enough = confirmed + 2000
      for (;;) {
        const inserted = await db
          .insert({ table: 't', columns: ['n', 'body'], body: numbered(confirmed, 200) })
          .then(
            () => true,
            () => false,
          )
        if (!inserted) break
        confirmed += 200
        if (confirmed >= enough) process.kill(victim.pid, 'SIGKILL')
      }
      expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' })
      engine = await start()
      db = connect(engine)
      const [row] = await db.rows<{ found: number }>(
        `SELECT count() AS found FROM t FINAL WHERE n < {confirmed:UInt32}`,
        { params: { confirmed } },
      )
      expect(row?.found).toBe(confirmed)
    }
  })

  it('ends with its parent, however the parent ends', async () => {
    const { kill, child } = await spawnParent()
    const db = connect(child, 'default')
    const slow = db
      .rows('SELECT sum(sleepEachRow(1)) FROM numbers(30) SETTINGS max_block_size = 1')
      .catch(() => 'cut')
    await until('the read runs', async () => {
      const rows = await db.rows(`SELECT 1 FROM system.processes WHERE query LIKE '%sleepEachRow%'`)
      return rows.length >= 2
    })
    kill()
    await until('the child is gone', async () => (await startTime(child.pid)) === undefined)
    expect(await slow).toBe('cut')
  })

  inLong(() => {
    it('D-4: is ended by the next start if its parent is gone, and only then', async () => {
      const { kill, child } = await spawnParent()
      await expect(start()).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringContaining('Another process'),
      })
      expect(await startTime(child.pid)).toBeDefined()
      // A stopped process cannot notice that its parent has died.
      process.kill(child.pid, 'SIGSTOP')
      kill()
      cleanups.push(async () => {
        if ((await startTime(child.pid)) !== undefined) process.kill(child.pid, 'SIGKILL')
      })
      await until('the parent is gone', async () => {
        const engine = await start().catch(() => undefined)
        return engine !== undefined
      })
      expect(await startTime(child.pid)).toBeUndefined()
    })

    it('stops cleanly, leaves no record behind, and starts again on the same port', async () => {
      const port = await fixedPort()
      const options = { dataDir: folder.dir, logger: createLogger({ level: 'silent' }), port }
      const first = await startEmbeddedClickHouse(options)
      await first.stop()
      expect(await first.exited).toEqual({ code: 0, signal: null })
      expect(await readdir(join(folder.dir, 'processes'))).toEqual([])
      const began = performance.now()
      const again = await startEmbeddedClickHouse({ ...options, password: first.password })
      cleanups.push(() => again.stop())
      console.info(`start: ${Math.round(performance.now() - began)} ms`)
      expect(again.url).toBe(first.url)
      expect(await connectClickHouse({ ...again, database: 'default' }).ping()).toBe(true)
    })
  })

  it('refuses a folder whose name the engine would read as a pattern', async () => {
    const dataDir = join(folder.dir, 'a{b}')
    const started = startEmbeddedClickHouse({ dataDir, logger: createLogger({ level: 'silent' }) })
    await expect(started).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('DATA_DIR must not contain'),
    })
  })

  inLong(() => {
    it('says how to use CLICKHOUSE_URL when the engine is not installed', async () => {
      // A copy of the sources without node_modules beside them.
      const src = join(folder.dir, 'src')
      await cp(fileURLToPath(new URL('../../../src', import.meta.url)), src, { recursive: true })
      await writeFile(join(folder.dir, 'package.json'), '{"type":"module"}')
      const script = `
        const { startEmbeddedClickHouse } = await import(${JSON.stringify(join(src, START))})
        const logger = { warn() {} }
        const error = await startEmbeddedClickHouse({ dataDir: process.argv[1], logger }).catch((thrown) => thrown)
        console.log(JSON.stringify({ code: error.code, message: error.message }))`
      const args = ['--input-type=module', '-e', script, folder.dir]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      expect(JSON.parse(stdout)).toEqual({
        code: 'config_invalid',
        message: expect.stringContaining('CLICKHOUSE_URL'),
      })
    })

    it.each(['before', 'after'])(
      'leaves no process when a start is aborted just %s it listens',
      async (when) => {
        const controller = new AbortController()
        const { signal } = controller
        const listen = signal.addEventListener.bind(signal)
        const reason = new Error('changed my mind')
        signal.addEventListener = (...listener: Parameters<typeof listen>) => {
          if (when === 'before') controller.abort(reason)
          listen(...listener)
          controller.abort(reason)
        }
        await expect(startTestClickHouse(folder.dir, signal)).rejects.toThrow(reason)
        expect(await readdir(join(folder.dir, 'processes'))).toEqual([])
      },
    )
  })
})
