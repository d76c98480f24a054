import type { Locator } from 'playwright-core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { Message } from '../../../src/schema/types.gen.ts'
import { eventually } from '../../support/eventually.ts'
import { campaignSample, LONG_MS } from '../../support/campaign.ts'
import { sendCorpus } from '../../support/traces/corpus-requests.ts'
import { drained } from '../../support/servers/server.ts'
import { useWeir } from '../../support/servers/use-weir.ts'
import { HAS_BROWSER, NO_BROWSER, signIn, useInterface } from '../../support/servers/web-interface.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

interface CorpusRun {
  id: string
  trace_id: string
  name: string
  run_type: string
  error: string | null
  llm?: {
    messages?: { input: Message[] | null; output: Message[] | null }
    checks: Record<string, { ok: boolean }>
  }
}

/** Minimum numbers, so that the test fails when the corpus is not found. */
const LEAST_RUNS = 150
const LEAST_CALLS = 60
/** A longer text is cut to this length until it is opened. */
const SHOWN_CHARS = 2000
/** Longest time for all parts of a panel to load. */
const LOADED_MS = 20_000

const flat = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Every text that a message should show. */
function textsOf({ content }: Message): string[] {
  return content.flatMap((block) => {
    if (block.type === 'text' || block.type === 'reasoning') return [block.text ?? '']
    return block.type === 'tool_call' || block.type === 'server_tool_call' ? [block.name ?? ''] : []
  })
}

describe.skipIf(!HAS_BROWSER)(`requests of real clients in the browser${NO_BROWSER}`, () => {
  const server = useWeir()
  const used = useInterface(server)
  const runs: CorpusRun[] = []

  beforeAll(async () => {
    const weir = server.current()
    await sendCorpus(weir)
    await drained(weir)
    const session = (await weir.json<{ id: string }[]>('/api/v1/sessions')).map(({ id }) => id)
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page: { runs: CorpusRun[]; cursors: { next: string | null } } = await weir.json(
        '/api/v1/runs/query',
        { session, limit: 100, ...(cursor !== undefined && { cursor }) },
      )
      for (const { id } of page.runs) runs.push(await weir.json(`/api/v1/runs/${id}`))
      cursor = page.cursors.next
    }
    await signIn(used.current().page, weir)
    await used.current().page.evaluate(() => localStorage.setItem('weir:text', 'plain'))
  })

  /** Lists the texts of messages that are not shown after the parts of the panel have loaded. */
  async function missingIn(panel: Locator, { id, name, llm }: CorpusRun): Promise<string[]> {
    let missing: string[] = []
    await eventually(async () => {
      const more = panel.getByRole('button', { name: /earlier messages?$/ })
      while ((await more.count()) > 0) await more.first().click()
      const shown = flat((await panel.textContent()) ?? '')
      missing = []
      for (const side of ['input', 'output'] as const) {
        const messages = llm?.messages?.[side] ?? []
        for (const text of messages.flatMap(textsOf))
          if (!shown.includes(flat(text.slice(0, SHOWN_CHARS))))
            missing.push(`${name} ${id} ${side}: ${text.slice(0, 80)}`)
        const title = side === 'input' ? 'Input' : 'Output'
        const section = panel.locator('details', { has: panel.page().locator(`summary:text-is("${title}")`) })
        const isChat = (await panel.locator('details', { hasText: title }).locator('[data-role]').count()) > 0
        if (messages.length > 0 && (!isChat || (await section.count()) > 1))
          missing.push(`${name} ${id}: ${side} is JSON`)
      }
      expect(missing).toEqual([])
    }, LOADED_MS).catch(() => undefined)
    return missing
  }

  it('every text of every message is found, and no side with messages falls back to JSON', async () => {
    const { page, open } = used.current()
    const calls = runs.filter(({ llm }) => llm?.messages !== undefined)
    expect([runs.length >= LEAST_RUNS, calls.length >= LEAST_CALLS]).toEqual([true, true])
    const missing: string[] = []
    for (const call of campaignSample(calls)) {
      const { id, trace_id, name } = call
      await open(`/traces/${trace_id}?run=${id}`)
      const panel = page.locator('#run')
      await panel.getByRole('heading', { name, exact: true }).first().waitFor()
      missing.push(...(await missingIn(panel, call)))
    }
    expect(missing).toEqual([])
  })

  it('runs without messages show their errors and open without a fault', async () => {
    const { page, open } = used.current()
    const others = runs.filter(({ llm }) => llm?.messages === undefined)
    for (const { id, trace_id, name, error } of campaignSample(others)) {
      await open(`/traces/${trace_id}?run=${id}`)
      const panel = page.locator('#run')
      await panel.getByRole('heading', { name, exact: true }).first().waitFor()
      expect([id, await panel.getByText('This part of the page failed').count()]).toEqual([id, 0])
      if (error === null) continue
      const said = flat(error.slice(0, 200))
      await eventually(async () => expect(flat((await panel.textContent()) ?? '')).toContain(said))
    }
  })
})
