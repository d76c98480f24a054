import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newUuid, NIL_UUID } from '../../../src/base/ids.ts'
import type { ListQuery } from '../../../src/ingest/store/trace-store.ts'
import { indexWords } from '../../../src/storage/clickhouse/search/index-words.ts'
import { RANK, writeFragment } from '../../../src/trace/rows/fragment.ts'
import { RowWriter } from '../../../src/trace/rows/row-binary.ts'
import { searchByWords, searchInSteps } from '../../../src/storage/clickhouse/search/search-steps.ts'
import { until } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { tries } from '../../support/properties.ts'
import {
  idOf,
  START,
  useTraceStore,
  type TestTraceStore,
  traceRunRow,
} from '../../support/stores/clickhouse/trace-store.ts'
import { firstInShort, inLong } from '../../support/length.ts'

let db: TestTraceStore
useTraceStore((store) => void (db = store))

type Payloads = Partial<Record<'inputs' | 'outputs' | 'error' | 'extra', string>>

/** Stores TraceRun `n` of the workspace with these payloads, or a later update of it. */
async function store(
  workspace_id: string,
  runs: readonly Payloads[],
  rank: number = RANK.create,
): Promise<void> {
  const writer = new RowWriter()
  for (const [n, payloads] of runs.entries()) {
    const bytes = (text = ''): Buffer => Buffer.from(text)
    writeFragment(writer, {
      workspace_id,
      run_id: idOf(n),
      rank,
      received_at: START / 1000,
      project_id: NIL_UUID,
      user_id: NIL_UUID,
      api_key_id: NIL_UUID,
      head: bytes('{}'),
      inputs: bytes(payloads.inputs),
      outputs: bytes(payloads.outputs),
      events: bytes(),
      extra: bytes(payloads.extra),
      error: bytes(payloads.error),
      serialized: bytes(),
      attachments: bytes(),
    })
  }
  await db.store.insert('fragments', [writer.finish()])
  await db.insert(runs.map((_, n) => traceRunRow(n, { workspace_id, name: '№' })))
}

async function find(
  workspace_id: string,
  expression: string,
  more: Partial<ListQuery> = {},
): Promise<number[]> {
  return (await db.idsOf(workspace_id, expression, more)).map((id) => Number(id.slice(-12)))
}
const search = (workspace_id: string, text: string) => find(workspace_id, `search(${JSON.stringify(text)})`)

/** Builds the index for all existing rows. */
async function build(): Promise<void> {
  await indexWords(db.clickhouse, { min_rows: 1, quiet_seconds: 0 })
  await until('the index is built', async () => {
    const [left] = await db.clickhouse.rows<{ n: number }>(
      `SELECT count() AS n FROM system.parts WHERE active AND database = currentDatabase()
         AND table IN ('fragments', 'run_fragments', 'runs') AND secondary_indices_uncompressed_bytes = 0`,
    )
    return left!.n === 0
  })
}

/** JSON as Python writes it: everything but ASCII is escaped. */
const inAscii = (json: string): string =>
  Array.from({ length: json.length }, (_, i) => json.charCodeAt(i))
    .map((unit) => (unit < 128 ? String.fromCharCode(unit) : `\\u${unit.toString(16).padStart(4, '0')}`))
    .join('')

const LETTERS = [
  'a',
  'B',
  'foo',
  'n',
  'u4',
  '你',
  '好',
  '吗',
  'م',
  'رحبا',
  'é',
  'Ж',
  'ж',
  '😀',
  ' ',
  '\n',
  '"',
  '\\',
  '/',
  '-',
  '%',
  '_',
  '0',
  '',
]
const text = fc.array(fc.constantFrom(...LETTERS), { maxLength: 12 }).map((parts) => parts.join(''))

const KINDS: [name: string, isIndexed: boolean][] = [
  ['scanned', false],
  ['in the index', true],
]

describe.each(firstInShort(KINDS))('rows that are %s', (_, isIndexed) => {
  it('SRCH-2, SRCH-3, SRCH-6: are found as by a naive model, in any script, however their JSON is written', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, text, fc.boolean()), { minLength: 12, maxLength: 24 }),
        fc.array(
          text.filter((needle) => needle !== ''),
          { minLength: 3, maxLength: 3 },
        ),
        async (runs, needles) => {
          const workspace_id = newUuid()
          const written = (value: string, ascii: boolean): string => {
            const json = JSON.stringify({ content: value })
            return ascii ? inAscii(json) : json
          }
          await store(
            workspace_id,
            runs.map(([inputs, outputs, ascii]) => ({
              inputs: written(inputs, ascii),
              outputs: written(outputs, !ascii),
            })),
          )
          if (isIndexed) await build()
          const parts = runs
            .map(([inputs]) => Array.from(inputs))
            .flatMap((letters) => [letters.slice(1, 4).join(''), letters.slice(-2).join('')])
            .filter((part) => part !== '')
          for (const needle of [...needles, ...parts.slice(0, 5)]) {
            const low = needle.toLowerCase()
            const wanted = runs.flatMap(([inputs, outputs], n) =>
              [inputs, outputs].some((value) => `{content:${value}}`.toLowerCase().includes(low)) ? [n] : [],
            )
            expect([needle, await search(workspace_id, needle)]).toEqual([needle, wanted])
          }
        },
      ),
      { ...tries(2), endOnFailure: true },
    ))

  it('SRCH-1, SRCH-5: are found in inputs, outputs, errors and metadata, and by field', async () => {
    const workspace_id = newUuid()
    await store(workspace_id, [
      { inputs: '{"q":"Where is Łódź?"}' },
      { outputs: `{"a":"${'far '.repeat(400)}Haystackneedle"}` },
      { error: 'TimeoutError: kaputt' },
      { extra: '{"metadata":{"tenant":{"name":"Globex"}},"runtime":{"platform":"globexos"}}' },
      { extra: '\0\u0012span with attribute needle' },
      { inputs: '{"text":"line one\\nfoo bar"}' },
    ])
    if (isIndexed) await build()
    expect(await search(workspace_id, 'haystackNEEDLE')).toEqual([1])
    expect(await search(workspace_id, 'needle')).toEqual([1, 4])
    expect(await search(workspace_id, 'łÓDŹ')).toEqual([0])
    expect(await search(workspace_id, 'kaputt')).toEqual([2])
    expect(await search(workspace_id, 'globex')).toEqual([3])
    expect(await search(workspace_id, 'globexos')).toEqual([])
    expect(await search(workspace_id, 'foo BAR')).toEqual([5])
    expect(await search(workspace_id, 'nfoo')).toEqual([])
    expect(await find(workspace_id, 'search(outputs, "needle")')).toEqual([1])
    expect(await find(workspace_id, 'search(inputs, "needle")')).toEqual([])
    expect(await find(workspace_id, 'search(metadata, "Globex")')).toEqual([3])
    expect(await find(workspace_id, 'not(search("needle"))')).toEqual([0, 2, 3, 5])
    expect(await find(workspace_id, 'search("needle")', { order: 'desc', limit: 1 })).toEqual([4])
  })
})

inLong(() => {
  it('SRCH-4: text that an update replaced is found too', async () => {
    const workspace_id = newUuid()
    await store(workspace_id, [{ outputs: '{"a":"first answer"}' }, { outputs: '{"a":"other"}' }])
    await store(workspace_id, [{ outputs: '{"a":"second answer"}' }], RANK.update)
    expect(await search(workspace_id, 'first')).toEqual([0])
    expect(await search(workspace_id, 'second')).toEqual([0])
    expect(await search(workspace_id, 'answer')).toEqual([0])
  })

  it('a search in steps returns the same page as one step', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(9), fc.boolean()), { maxLength: 40 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        fc.integer({ min: 1, max: 12 }),
        async (runs, order, limit) => {
          const inOrder = runs.toSorted(([a], [b]) => (order === 'asc' ? a - b : b - a))
          const within = ({ start_time = -1, end_time = 99 }: ListQuery) =>
            inOrder.filter(([at]) => at >= start_time && at < end_time)
          const found = await searchInSteps(
            { order, limit },
            {
              async page(query) {
                const hits = within(query)
                  .filter(([, isHit]) => isHit)
                  .slice(0, query.limit)
                return { rows: Buffer.from(hits.map(([at]) => at)), count: hits.length }
              },
              timeAt: async (query, offset) => within(query)[Math.floor(offset / 400)]?.[0],
            },
          )
          expect([...found]).toEqual(inOrder.flatMap(([at, isHit]) => (isHit ? [at] : [])).slice(0, limit))
        },
      ),
      tries(50),
    ))
})

it('a search by words returns the same page as one step, and reads few payloads', () =>
  fc.assert(
    fc.asyncProperty(
      // For each TraceRun: its time, whether it has the words, and whether it matches.
      fc.array(fc.tuple(fc.nat(9), fc.boolean(), fc.boolean()), { maxLength: 40 }),
      fc.constantFrom('asc' as const, 'desc' as const),
      fc.integer({ min: 1, max: 12 }),
      fc.boolean(),
      async (runs, order, limit, isRare) => {
        const sign = order === 'asc' ? 1 : -1
        const inOrder = runs
          .map(([at, hasWords, isHit], n) => ({
            at,
            id: String(n).padStart(2, '0'),
            hasWords,
            isHit: hasWords && isHit,
          }))
          .toSorted((a, b) => sign * (a.at - b.at || (a.id < b.id ? -1 : 1)))
        const within = ({ start_time = -1, end_time = 99, after, run_ids }: ListQuery) =>
          inOrder.filter(
            ({ at, id }) =>
              at >= start_time &&
              at < end_time &&
              (run_ids?.includes(id) ?? true) &&
              (after === undefined ||
                sign * (at - after.sort_time || (id < after.run_id ? -1 : Number(id > after.run_id))) > 0),
          )
        let read = 0
        const found = await searchByWords(
          { order, limit },
          {
            isRare: async () => isRare,
            places: async (query) =>
              within(query)
                .filter(({ hasWords }) => hasWords)
                .slice(0, query.limit)
                .map(({ at, id }) => ({ sort_time: at, run_id: id })),
            async page(query) {
              const list = within(query)
              read += list.length
              const hits = list.filter(({ isHit }) => isHit).slice(0, query.limit)
              return { rows: Buffer.from(hits.map(({ id }) => Number(id))), count: hits.length }
            },
            timeAt: async (query, offset) => within(query)[Math.floor(offset / 4_000)]?.at,
          },
        )
        const wanted = inOrder.filter(({ isHit }) => isHit).slice(0, limit)
        expect([...found]).toEqual(wanted.map(({ id }) => Number(id)))
        expect(read).toBeLessThanOrEqual(inOrder.filter(({ hasWords }) => hasWords).length)
      },
    ),
    tries(200),
  ))
