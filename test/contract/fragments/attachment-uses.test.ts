import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { STORED_COLUMNS } from '../../../src/ingest/store/stored-columns.ts'
import type { ClickHouse } from '../../../src/storage/clickhouse/connect.ts'
import { fillAttachmentUses } from '../../../src/storage/clickhouse/deleting/attachment-uses.ts'
import { createTraceDeletion } from '../../../src/storage/clickhouse/deleting/deletion.ts'
import { createTraceStore } from '../../../src/storage/clickhouse/trace-store.ts'
import { emptyFragment, RANK, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { migratedDatabase } from '../../support/stores/clickhouse/clickhouse-database.ts'
import { insertEarlierFragments } from '../../support/stores/clickhouse/earlier-fragments.ts'

const [FIRST, SECOND, UNUSED] = ['first', 'second', 'unused'].map((text) =>
  createHash('sha256').update(text).digest('hex'),
) as [string, string, string]
const ALL = [FIRST, SECOND, UNUSED]
const { signal } = new AbortController()

let db: ClickHouse
let drop: () => Promise<void>
beforeAll(async () => {
  ;({ db, drop } = await migratedDatabase())
})
afterAll(() => drop())

it('attachments are in use until the last TraceRun that has them is deleted, also those of earlier releases', async () => {
  const workspace_id = newUuid()
  const [own, shared, before] = [newUuid(), newUuid(), newUuid()] as const
  const rowOf = (run_id: string, ...sha256s: string[]): Uint8Array[] => {
    const writer = new RowWriter()
    const attachments = Object.fromEntries(sha256s.map((sha256, i) => [`a${i}`, { sha256, size: 1 }]))
    writeFragment(writer, {
      ...emptyFragment(workspace_id, run_id, RANK.create, Date.UTC(2026, 0, 1)),
      attachments: Buffer.from(JSON.stringify(attachments)),
    })
    return [writer.finish()]
  }
  const byDay = createTraceStore(db, STORED_COLUMNS)
  await insertEarlierFragments(db, rowOf(before, SECOND))
  // A release without the view has stored this.
  await db.command('TRUNCATE TABLE attachment_uses')
  await byDay.insert('fragments', rowOf(own, FIRST))
  await byDay.insert('fragments', rowOf(shared, FIRST, SECOND))

  const deletion = createTraceDeletion(db, STORED_COLUMNS.runs)
  const used = async (): Promise<string[]> =>
    [...(await deletion.usedBlobs(ALL))].sort((a, b) => ALL.indexOf(a) - ALL.indexOf(b))
  const remove = async (run_id: string): Promise<void> => {
    const attachments = await deletion.attachmentsOf(workspace_id, [run_id])
    await deletion.deleteRuns(workspace_id, [run_id], { attachments })
  }
  expect(await used()).toEqual([FIRST, SECOND])
  await remove(own)
  expect(await used()).toEqual([FIRST, SECOND])
  await remove(shared)
  expect(await used()).toEqual([SECOND])
  await fillAttachmentUses(db, signal)
  expect(await used()).toEqual([SECOND])
  await remove(before)
  expect(await used()).toEqual([])
})
