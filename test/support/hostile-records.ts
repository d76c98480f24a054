import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { ANSWER_MS, type Answer, type HostileServer } from './hostile-server.ts'
import { listTraceRuns } from './stored-traces.ts'

/** Stored, or refused with words: never a 5xx, never slow. */
export function expectDecided(answer: Answer): void {
  expect([202, 400, 413, 422]).toContain(answer.status)
  expect(answer.ms).toBeLessThan(ANSWER_MS)
  for (const { code, reason } of answer.body.rejected ?? []) {
    expect(code).toMatch(/^[a-z_]+$/)
    expect(reason.length).toBeLessThan(2_000)
  }
}

/** Sends one create as raw JSON text, by both routes; what was accepted can be read by id and in the list. */
export async function sendRaw(
  server: HostileServer,
  record: (id: string) => string,
  session_name: string,
): Promise<Answer[]> {
  const [single, part] = [randomUUID(), randomUUID()]
  const json = { 'content-type': 'application/json' }
  const answers = [
    await server.send('/runs', record(single), json),
    await server.sendParts([{ name: `post.${part}`, data: record(part) }]),
  ]
  answers.forEach(expectDecided)
  for (const [index, id] of [single, part].entries()) {
    if (answers[index]?.status !== 202) continue
    expect((await server.read(id)).id).toBe(id)
  }
  const accepted = answers.filter(({ status }) => status === 202)
  if (accepted.length > 0 && session_name !== '') {
    expect(await listTraceRuns(server.weir(), session_name)).toHaveLength(accepted.length)
  }
  return answers
}

/** What every record has unless told otherwise. */
export const LLM = {
  name: 'x',
  run_type: 'llm',
  start_time: '2026-11-20T09:00:00Z',
  end_time: '2026-11-20T09:00:01Z',
}

/** The JSON text of a create with these fields, by its id. */
export function create(fields: Record<string, unknown>, session_name: string) {
  return (id: string): string => JSON.stringify({ id, ...LLM, session_name, ...fields })
}
