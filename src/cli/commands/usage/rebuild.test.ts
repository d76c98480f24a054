import { describe, expect, it } from 'vitest'
import type { SchemaTypes } from '../../../schema/types.gen.ts'
import { followRebuild } from './rebuild.ts'

type Rebuild = SchemaTypes['usage-rebuild']

const NONE: Rebuild = { status: 'none', started_at: null, finished_at: null, error: null }
const rebuild = (status: Rebuild['status'], started_at: string): Rebuild => ({ ...NONE, status, started_at })

/** Follows a rebuild whose first answer was `first`; each poll gets the next answer, and the last one is repeated. */
async function follow(
  first: Rebuild,
  answers: Rebuild[],
): Promise<{ end: Rebuild | undefined; polls: number }> {
  let polls = 0
  const poll = async (): Promise<Rebuild> => answers[Math.min(polls++, answers.length - 1)]!
  const end = await followRebuild(first, poll, async () => undefined)
  return { end, polls }
}

describe('following a rebuild', () => {
  it('ends when the rebuild ends', async () => {
    const answers = [rebuild('running', 'a'), rebuild('done', 'a')]
    expect(await follow(rebuild('running', 'a'), answers)).toEqual({ end: answers[1], polls: 2 })
    expect(await follow(rebuild('failed', 'a'), answers)).toEqual({ end: rebuild('failed', 'a'), polls: 0 })
  })

  it('ignores the state of servers that do not run it', async () => {
    const others = [NONE, rebuild('done', 'earlier'), rebuild('failed', 'earlier')]
    const answers = [...others, rebuild('running', 'a'), ...others, rebuild('done', 'a')]
    expect((await follow(rebuild('running', 'a'), answers)).end).toEqual(rebuild('done', 'a'))
  })

  it('fails when no server has reported it for long', async () => {
    const seen = [rebuild('running', 'a'), rebuild('running', 'a')]
    const { end, polls } = await follow(rebuild('running', 'a'), [...seen, NONE])
    expect(end).toBe(undefined)
    expect(polls).toBe(2 + 120)
  })
})
