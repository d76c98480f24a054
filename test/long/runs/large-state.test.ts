import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LONG_MS } from '../../support/campaign.ts'
import { withoutPython } from '../../support/python.ts'
import {
  columnBytes,
  type Language,
  openRuns,
  runFileBytes,
  runLarge,
  startWithGraphs,
  textOf,
} from '../../support/runs/large-state.ts'
import { startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'
import { newFolder } from '../../support/folder.ts'

// Servers, and states of many megabytes.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const BYTES = 20_000_000
/** What a run may store, as a multiple of its state. Before texts were in pieces it was 8 to 14. */
const TIMES = 2.5

async function measure(language: Language, appends: boolean, database_url?: string): Promise<void> {
  const home = await newFolder()
  const weir = await startWithGraphs(home, language, database_url)
  const text = textOf(BYTES)
  const answer = await runLarge(weir, text, appends)
  const last = appends ? `${text} and step 1 and step 2` : text
  expect(answer.steps).toBe(2)
  expect(answer.text === last).toBe(true)
  const state = await weir.json<{ values: { text: string } }>(
    `/deployments/large/threads/${answer.thread_id}/state`,
  )
  expect(state.values.text === last).toBe(true)
  expect(await weir.stop()).toBe(0)
  const database = openRuns(home, database_url)
  const columns = await columnBytes(database, BYTES / 100)
  await database.close()
  const stored = Object.values(columns).reduce((sum, bytes) => sum + bytes, 0)
  expect(stored / BYTES, JSON.stringify(columns)).toBeLessThan(TIMES)
  if (database_url === undefined) expect((await runFileBytes(home)) / BYTES).toBeLessThan(TIMES)
}

describe('a run with a state of 20 MB and two steps stores at most 2.5 times its state', () => {
  it('of a TypeScript graph', () => measure('typescript', false))
  it('of a TypeScript graph whose steps add to it', () => measure('typescript', true))
  it.skipIf(withoutPython() !== '')(`of a Python graph${withoutPython()}`, () => measure('python', true))
  it.skipIf(withoutPostgres() !== '')(`on Postgres${withoutPostgres()}`, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    await measure('typescript', true, await postgres.createDatabase())
  })
})
