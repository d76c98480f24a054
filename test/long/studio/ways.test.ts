import { describe, expect, it, vi } from 'vitest'
import { DEPLOYMENT, useDeploymentPages, useStudio } from '../../conformance/web/studio.ts'
import { eventually } from '../../support/eventually.ts'
import { HAS_BROWSER, NO_BROWSER } from '../../support/servers/web-interface.ts'
import { LONG_MS } from '../../support/campaign.ts'

// Chromium goes through many pages.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

describe.skipIf(!HAS_BROWSER)(`the main ways through Studio in a browser${NO_BROWSER}`, () => {
  const { server, used } = useDeploymentPages()
  const { studio, graph, steps, runKind } = useStudio(used)

  it('#28 #231: lights up every node, also of subgraphs, and draws the edges to END', async () => {
    await runKind('sub')
    for (const name of ['begin', 'nested:first', 'nested:second', 'finish'])
      await graph().locator(`[data-node="${name}"][data-state="success"]`).waitFor()
    expect(await graph().locator('[data-kind="end"]').count()).toBe(1)
    expect(await graph().locator('path[data-source="finish"][data-target="__end__"]').count()).toBe(1)
    expect(await used.current().broken()).toEqual([])
  })

  it('#70 #66: shows an interrupt with its payload, and resumes it with any answer', async () => {
    const thread = await runKind('ask')
    const { page, broken } = used.current()
    const form = page.getByRole('form', { name: 'Questions' })
    await form.getByText('go on?').waitFor()
    await graph().locator('[data-node="respond"][data-state="interrupted"]').waitFor()
    expect(await broken()).toEqual([])
    await form.getByRole('toolbar', { name: 'Way to answer respond' }).getByText('Answer as JSON').click()
    await form.getByLabel('Answer to respond').fill('{"later": tomorrow}')
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await form.getByText('is not JSON').waitFor()
    await form.getByLabel('Answer to respond').fill('{"later": "tomorrow"}')
    await form.getByRole('button', { name: 'Answer and go on' }).click()
    await form.waitFor({ state: 'detached' })
    await eventually(async () => {
      const { values } = await server
        .current()
        .json<{ values: { answer?: unknown } }>(`${DEPLOYMENT}/threads/${thread}/state`)
      expect(values.answer).toEqual({ later: 'tomorrow' })
    })
  })

  it('#20 langgraph #5259: edits a state two steps back, shows the edit, and goes on from the fork', async () => {
    const thread = await runKind('custom')
    const { page } = used.current()
    // The text `finish` is not used: an earlier step names that node as its next one.
    await steps().filter({ hasText: 'end' }).first().waitFor()
    const before = await steps().count()
    await steps().nth(2).getByRole('button').click()
    await page.getByRole('button', { name: 'Edit the state' }).click()
    const form = page.getByRole('form', { name: 'Edit the state' })
    await form.getByLabel('Values to write').fill('{"answer": "edited by hand"}')
    await form.getByRole('button', { name: 'Write as a new branch' }).click()
    const state = page.getByRole('region', { name: 'State' })
    await state.getByText('edited by hand').first().waitFor()
    await eventually(async () => expect(await steps().count()).toBe(before + 1))
    await page.getByLabel('Compared with').selectOption({ index: 1 })
    await state.getByText('Different from Step').waitFor()
    await state.locator('ins, del').getByText('finished').first().waitFor()
    expect(new URL(page.url()).searchParams.get('against')).not.toBeNull()
    await page.getByRole('button', { name: 'Run from here' }).click()
    await eventually(async () => expect(await steps().count()).toBeGreaterThan(before + 1))
    await eventually(async () => {
      const { values, next } = await server
        .current()
        .json<{ values: { answer?: unknown }; next: string[] }>(`${DEPLOYMENT}/threads/${thread}/state`)
      expect([values.answer, next]).toEqual(['edited by hand', []])
    })
  })

  it('chats: streams an answer, and edits a message in a new branch', async () => {
    const { page, open, broken } = used.current()
    await open(`${studio}?assistant=tokens&mode=chat`)
    await page.getByLabel('Message', { exact: true }).fill('hello')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    const chat = page.getByRole('region', { name: 'Chat' })
    await chat.getByText('tok4').waitFor()
    await chat.getByRole('button', { name: 'Edit' }).click()
    expect(await broken()).toEqual([])
    await chat.getByLabel('Edited message').fill('hello again')
    await chat.getByRole('button', { name: 'Send as a new branch' }).click()
    await chat.getByText('hello again').waitFor()
    await eventually(async () => expect(await chat.getByText('hello', { exact: true }).count()).toBe(0))
  })

  it('hides the question of a later run while an earlier one is replayed', async () => {
    const thread = await runKind('custom')
    await steps().filter({ hasText: 'end' }).first().waitFor()
    await server
      .current()
      .json(`${DEPLOYMENT}/threads/${thread}/runs/wait`, { assistant_id: 'kinds', input: { kind: 'ask' } })
    const { page } = used.current()
    await page.reload()
    const questions = page.getByRole('form', { name: 'Questions' })
    await questions.waitFor()
    await page.getByRole('region', { name: 'Runs' }).getByRole('button', { name: 'Replay' }).last().click()
    const replay = page.getByRole('region', { name: 'Replay' })
    await replay.waitFor()
    await questions.waitFor({ state: 'hidden' })
    await replay.getByRole('button', { name: 'End the replay' }).click()
    await questions.waitFor()
  })

  it('ui §9.5: replays a run, with its nodes, events, tokens and states', async () => {
    await runKind('custom')
    const { page, open, broken } = used.current()
    await steps().filter({ hasText: 'end' }).first().waitFor()
    await page.reload()
    const runs = page.getByRole('region', { name: 'Runs' })
    const replay = page.getByRole('region', { name: 'Replay' })
    await runs.getByRole('button', { name: 'Replay' }).click()
    await graph().locator('[data-node="finish"][data-state="success"]').waitFor()
    await graph().locator('[data-count="1"]').waitFor()
    await replay.getByText('the run has ended').waitFor()
    await page.waitForURL(/checkpoint=/)
    expect(await broken()).toEqual([])
    await replay.getByRole('button', { name: 'End the replay' }).click()
    await replay.waitFor({ state: 'detached' })
    await open(`${studio}?assistant=tokens&mode=chat`)
    await page.getByLabel('Message', { exact: true }).fill('hello')
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('region', { name: 'Chat' }).getByText('tok4').waitFor()
    await runs.getByRole('button', { name: 'Replay' }).click()
    await replay.getByText('tok4').waitFor()
  })
})
