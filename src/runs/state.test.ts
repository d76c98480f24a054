import { describe, expect, it } from 'vitest'
import { RUN_STATUSES, type RunStatus } from './model.ts'
import { isActive, RUN_EVENTS, type RunEvent, restingStatus, TRANSITIONS } from './state.ts'

/** Every transition that is not listed is refused. */
const CELLS: Record<RunStatus, Partial<Record<RunEvent, RunStatus | 'deleted'>>> = {
  pending: { claim: 'running', interrupt: 'interrupted', rollback: 'deleted' },
  running: {
    succeed: 'success',
    fail: 'error',
    time_out: 'timeout',
    retry: 'pending',
    interrupt: 'interrupted',
    rollback: 'deleted',
  },
  success: { delete: 'deleted' },
  error: { delete: 'deleted' },
  timeout: { delete: 'deleted' },
  interrupted: { delete: 'deleted' },
}

describe('TRANSITIONS', () => {
  const cells = RUN_STATUSES.flatMap((status) => RUN_EVENTS.map((event) => [status, event] as const))
  it.each(cells)('%s, %s', (status, event) => {
    expect(TRANSITIONS[status][event]).toBe(CELLS[status][event] ?? 'refused')
  })

  it('has no cells but those', () => {
    const written = Object.values(TRANSITIONS).flatMap((events) => Object.keys(events))
    expect(written).toHaveLength(RUN_STATUSES.length * RUN_EVENTS.length)
  })

  it('lets active runs be cancelled and only ended ones be deleted', () => {
    for (const status of RUN_STATUSES) {
      const { interrupt, rollback, delete: deleted } = TRANSITIONS[status]
      expect([interrupt !== 'refused', rollback !== 'refused', deleted === 'refused']).toEqual(
        Array(3).fill(isActive(status)),
      )
    }
  })
})

describe('restingStatus', () => {
  it.each([
    ['success', false, 'idle'],
    ['success', true, 'interrupted'],
    ['interrupted', false, 'idle'],
    ['interrupted', true, 'interrupted'],
    ['error', false, 'error'],
    ['error', true, 'error'],
    ['timeout', false, 'error'],
    ['timeout', true, 'error'],
  ] as const)('after %s, with next nodes: %s', (last, hasNext, expected) => {
    expect(restingStatus(last, hasNext)).toBe(expected)
  })
})
