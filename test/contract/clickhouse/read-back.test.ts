import { cp, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { migrate } from '../../../src/storage/clickhouse/migrate.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import {
  emptyFragment,
  type Fragment,
  RANK,
  readFragments,
  readOutlines,
  readPayloads,
  SIZED_COLUMNS,
  sizeOf,
  type StoredFragment,
  writeFragment,
} from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { TRACE_RUN_ROWS } from '../../../src/trace/rows/trace-run-row.ts'
import { WAITING_CHILD_ROWS } from '../../../src/trace/derive/lineage/waiting-child.ts'
import { newDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'
import { insertEarlierFragments } from '../../support/stores/clickhouse/earlier-fragments.ts'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { idOf, START, traceRunRow, WORKSPACE } from '../../support/stores/clickhouse/trace-store.ts'
import { inLong } from '../../support/length.ts'

const MIGRATIONS = fileURLToPath(new URL('../../../src/storage/clickhouse/migrations/', import.meta.url))
const logger = createLogger({ level: 'silent' })

let folder: Awaited<ReturnType<typeof temporaryDir>>
let db: ClickHouse
let drop: () => Promise<void>
beforeAll(async () => {
  folder = await temporaryDir()
  ;({ db, drop } = await newDatabase())
  await migrate(db, { logger, dir: await migrationsBefore('0007') })
  await insertEarlierFragments(db, [rowsOf([OLD])])
  await migrate(db, { logger })
})
afterAll(async () => {
  await drop()
  await folder.remove()
})

async function migrationsBefore(number: string): Promise<string> {
  const dir = join(folder.dir, 'migrations')
  await mkdir(dir)
  for (const file of await readdir(MIGRATIONS))
    if (file < number) await cp(join(MIGRATIONS, file), join(dir, file))
  return dir
}

const store = () => createTraceStore(db, STORED_COLUMNS)
const insert = (rows: Uint8Array): Promise<void> => store().insert('fragments', [rows])

function rowsOf(fragments: readonly (Partial<Fragment> & { run_id: string })[]): Uint8Array {
  const writer = new RowWriter()
  for (const { run_id, ...changes } of fragments)
    writeFragment(writer, { ...emptyFragment(WORKSPACE, run_id, RANK.update, 1000), ...changes })
  return writer.finish()
}

const OLD = { run_id: idOf(1), head: Buffer.from('{"old":1}'), inputs: Buffer.alloc(3000, 0x69) }
const hex = ({ hash }: { hash: string }): string => Buffer.from(hash, 'latin1').toString('hex')
const sizes = (fragment: StoredFragment): number[] => SIZED_COLUMNS.map((column) => sizeOf(fragment, column))

async function outlinesOf(...ids: string[]): Promise<StoredFragment[]> {
  return [...readOutlines(await store().outlines(WORKSPACE, ids))]
}

describe('outlines', () => {
  it('have the head and the sizes of all other fields', async () => {
    const rows = rowsOf([
      {
        run_id: idOf(2),
        head: Buffer.from('{"name":"a"}'),
        inputs: Buffer.alloc(100_000, 0x69),
        outputs: Buffer.alloc(2, 0x6f),
        extra: Buffer.alloc(300, 0x78),
        attachments: Buffer.from('{}'),
      },
    ])
    await insert(rows)
    const [whole] = readFragments(rows)
    const [outline] = await outlinesOf(idOf(2))
    expect(Buffer.from(outline!.head).toString()).toBe('{"name":"a"}')
    expect(sizes(outline!)).toEqual(sizes(whole!))
    expect(outline!.left_out).toEqual({ inputs: 100_000, outputs: 2, extra: 300, attachments: 2 })
    expect(hex(outline!)).toBe(hex(whole!))
    expect([outline!.key, outline!.run_id, outline!.rank]).toEqual([whole!.key, idOf(2), RANK.update])
  })

  it('omit a head of more than a megabyte', async () => {
    await insert(rowsOf([{ run_id: idOf(3), head: Buffer.alloc(1_100_000, 0x20) }]))
    const [outline] = await outlinesOf(idOf(3))
    expect([outline!.head.length, outline!.left_out.head]).toEqual([0, 1_100_000])
  })

  it('have the sizes of rows that were written before the column existed', async () => {
    const [outline] = await outlinesOf(idOf(1))
    expect(sizes(outline!)).toEqual([9, 3000, 0, 0, 0, 0, 0, 0])
  })
})

describe('payloads', () => {
  it('have the requested columns of the requested fragments, once', async () => {
    const wanted = { run_id: idOf(4), inputs: Buffer.from('{"in":1}'), outputs: Buffer.from('{"out":1}') }
    const other = { run_id: idOf(4), inputs: Buffer.from('{"in":2}') }
    await insert(rowsOf([wanted, other]))
    await insert(rowsOf([{ ...wanted, received_at: 500 }]))
    const [first] = readFragments(rowsOf([wanted]))
    const found = await store().payloads(WORKSPACE, {
      run_ids: [idOf(4)],
      hashes: [hex(first!)],
      columns: ['outputs', 'extra'],
    })
    const read = [...readPayloads(found)].map(({ key, hash, columns }) => ({
      key,
      hash,
      texts: SIZED_COLUMNS.map((column) => Buffer.from(columns[column]).toString()),
    }))
    expect(read).toEqual([
      { key: first!.key, hash: first!.hash, texts: ['', '', '{"out":1}', '', '', '', '', ''] },
    ])
    expect(await outlinesOf(idOf(4))).toHaveLength(3)
  })
})

describe('payloads of small fragments', () => {
  it('have all of a TraceRun but its large fields', async () => {
    const small = { run_id: idOf(5), inputs: Buffer.from('{"in":1}'), extra: Buffer.alloc(60_000, 0x78) }
    const large = { run_id: idOf(5), inputs: Buffer.alloc(60_000, 0x69), extra: Buffer.alloc(60_000, 0x78) }
    await insert(rowsOf([small, large]))
    const read = [...readPayloads(await store().smallPayloads(WORKSPACE, idOf(5)))]
    expect(read.map(({ columns }) => [Buffer.from(columns.inputs).toString(), columns.extra.length])).toEqual(
      [['{"in":1}', 60_000]],
    )
  })
})

describe('the descendants of the root of a trace', () => {
  it('are found by their root at any depth, and not under another root of the trace', async () => {
    const trace = idOf(20)
    const child = idOf(21)
    const deep = idOf(22)
    const other = idOf(23)
    const below = idOf(24)
    const elsewhere = idOf(25)
    const order = (...ids: string[]) => ids.map((id) => `20261120T090000000000Z${id}`).join('.')
    const row = (id: string, trace_id: string, dotted_order: string): Uint8Array => {
      const out = new RowWriter()
      TRACE_RUN_ROWS.write(out, {
        ...traceRunRow(1, { run_id: id, trace_id, dotted_order }),
        sort_time: START,
      })
      return out.finish()
    }
    await store().insert('runs', [
      row(trace, trace, order(trace)),
      row(child, trace, order(trace, child)),
      row(deep, trace, order(trace, child, deep)),
      row(other, trace, order(other)),
      row(below, trace, order(other, below)),
      row(elsewhere, elsewhere, order(elsewhere)),
    ])
    expect((await store().belowRoots(WORKSPACE, [trace])).toSorted()).toEqual([child, deep])
  })
})

describe('children that wait for their parent', () => {
  const [parent, child, other] = [idOf(10), idOf(11), idOf(12)]
  const note = async (run_id: string, resolved: boolean): Promise<void> => {
    const out = new RowWriter()
    WAITING_CHILD_ROWS.write(out, { workspace_id: WORKSPACE, parent_run_id: parent, run_id, resolved })
    await store().insert('waiting_children', [out.finish()])
  }
  const waiting = async (): Promise<string[]> => {
    const found = await store().waitingChildren(WORKSPACE, [parent])
    return found.map(({ run_id }) => run_id).sort()
  }

  it('do so until they are marked as resolved, and again if they are stored again', async () => {
    expect(await store().hasWaitingChildren()).toBe(false)
    await note(child, false)
    await note(other, false)
    expect(await store().waitingChildren(WORKSPACE, [parent])).toContainEqual({
      parent_run_id: parent,
      run_id: child,
    })
    await note(child, true)
    expect(await waiting()).toEqual([other])
    await note(child, false)
    expect(await waiting()).toEqual([child, other])
    await note(child, true)
    await note(other, true)
    expect(await store().hasWaitingChildren()).toBe(false)
  })

  inLong(() => {
    it('are deleted after a week', async () => {
      const days = async (run_id: string, age: number): Promise<void> =>
        db.command(
          `INSERT INTO waiting_children (workspace_id, parent_run_id, run_id, received_at)
         SELECT {workspace:UUID}, {parent:UUID}, {run:UUID}, now64(3) - INTERVAL {age:UInt32} DAY`,
          { params: { workspace: WORKSPACE, parent, run: run_id, age } },
        )
      await days(idOf(13), 8)
      await days(idOf(14), 6)
      await db.command('OPTIMIZE TABLE waiting_children FINAL')
      expect(await waiting()).toEqual([idOf(14)])
    })
  })
})
