import { describe, expect, it } from 'vitest'
import {
  isTerminal,
  nextState,
  REVISION_EVENTS,
  REVISION_STATES,
  type RevisionEvent,
  type RevisionFacts,
  type RevisionState,
  statesWith,
} from './revision-states.ts'

const FACTS: RevisionFacts = { behind_another: false, has_artifact: false, builds: 1 }

/** The rows of the contract's table; `-`: the event cannot happen. The columns are in the order of REVISION_EVENTS. */
const ROWS: Record<string, string> = {
  CREATING: 'AWAITING_BUILD CREATE_FAILED - - - SKIPPED INTERRUPTED CREATING',
  QUEUED: '- - AWAITING_BUILD - - SKIPPED INTERRUPTED QUEUED',
  AWAITING_BUILD: '- - BUILDING - - SKIPPED INTERRUPTED AWAITING_BUILD',
  BUILDING: '- - - AWAITING_DEPLOY BUILD_FAILED BUILDING INTERRUPTED AWAITING_BUILD',
  AWAITING_DEPLOY: '- - DEPLOYING - - SKIPPED INTERRUPTED AWAITING_DEPLOY',
  DEPLOYING: '- - - DEPLOYED DEPLOY_FAILED DEPLOYING INTERRUPTED AWAITING_DEPLOY',
}
const NONE = '- - - - - - - -'

describe('P-5: the states of a revision', () => {
  const cells = REVISION_STATES.flatMap((state) =>
    (ROWS[state] ?? NONE).split(' ').map((next, i) => [state, REVISION_EVENTS[i]!, next] as const),
  )

  it('the table of this test has every cell', () => {
    expect(cells).toHaveLength(REVISION_STATES.length * REVISION_EVENTS.length)
  })

  it.each(cells)('%s + %s = %s', (state: RevisionState, event: RevisionEvent, next: string) => {
    expect(nextState(state, event, FACTS) ?? '-').toBe(next)
    expect(statesWith(event).includes(state)).toBe(next !== '-')
    expect(isTerminal(state)).toBe(ROWS[state] === undefined)
  })

  it('an accepted revision waits behind another, and needs no build when it has an artifact', () => {
    expect(nextState('CREATING', 'accepted', { ...FACTS, behind_another: true })).toBe('QUEUED')
    for (const behind_another of [true, false])
      expect(nextState('CREATING', 'accepted', { ...FACTS, behind_another, has_artifact: true })).toBe(
        'AWAITING_DEPLOY',
      )
  })

  it('a build during which the server died twice has failed', () => {
    expect(nextState('BUILDING', 'server_died', { ...FACTS, builds: 2 })).toBe('BUILD_FAILED')
  })
})
