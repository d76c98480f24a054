import { expect, it } from 'vitest'
import { assistantFinder } from './find-assistant.ts'
import { systemAssistantId } from './system.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }
const ID = '0b5c6a7e-3c56-4f0a-9a44-0f6f5c6d7e8f'

/** Finds assistants on a server that has the graph `own`; another server may have the graph `other`. */
function finder(hasGraph?: (graph_id: string) => Promise<boolean>) {
  const get = async (_: unknown, assistant_id: string) => ({ assistant_id }) as never
  const find = assistantFinder({ get }, { graphs: () => [{ graph_id: 'own' }] }, hasGraph)
  return async (asked: string) => (await find(TENANT, asked))?.assistant_id
}

it('an assistant is found by its id', async () => {
  expect(await finder()(ID.toUpperCase())).toBe(ID)
})

it('the name of a graph finds its default assistant, also if only another server has the graph', async () => {
  expect(await finder()('own')).toBe(systemAssistantId('own'))
  expect(await finder()('other')).toBeUndefined()
  expect(await finder(async (graph) => graph === 'other')('other')).toBe(systemAssistantId('other'))
})
