import { describe, expect, it } from 'vitest'
import type { IngestHealthRead } from '../../api/platform.gen.ts'
import { ERROR_TEXTS } from '../../api/error-texts.gen.ts'
import { healthWords, mendOf, waitText } from './health-words.ts'

const NOW = new Date('2026-11-22T10:00:12Z')

function health(changed: Partial<IngestHealthRead>): IngestHealthRead {
  return {
    status: 'ok',
    accepted: 10,
    stored: 10,
    derived: 10,
    rejected: {},
    truncated_requests: 0,
    rate_limited: { requests: 0, last_at: null },
    waiting: 0,
    oldest_waiting_at: null,
    log: { bytes: 2 ** 20, max_bytes: 2 ** 30 + 2 ** 20, segments: 1 },
    store: { up: true, last_error: null, last_confirmed_at: null },
    disk: { free_bytes: 2 ** 20, size_bytes: 2 ** 40, min_free_bytes: 2 ** 26, problem: null },
    lanes: {},
    ...changed,
  }
}

describe('healthWords', () => {
  it('needs nothing while all is stored', () => {
    const { level, mend } = healthWords(health({}), NOW)
    expect([level, mend]).toEqual(['ok', undefined])
  })

  it('says what waits, for how long, and how much room is left', () => {
    const late = health({ status: 'behind', waiting: 1234, oldest_waiting_at: '2026-11-22T10:00:00Z' })
    expect(healthWords(late, NOW).means).toMatch(/^1,234 records wait, the oldest for 12 s\..*1 GB more\.$/)
    expect(waitText(late, NOW)).toBe('12 s')
    expect(waitText(health({}), NOW)).toBeUndefined()
  })

  it('names the last error of a store that does not answer', () => {
    const store = { up: false, last_error: 'ECONNREFUSED', last_confirmed_at: null }
    const words = healthWords(health({ status: 'store_unavailable', waiting: 1, store }), NOW)
    expect([words.level, words.means, words.mend]).toEqual([
      'error',
      expect.stringContaining('1 record waits for the store'),
      expect.stringContaining('ECONNREFUSED'),
    ])
  })

  it('says how much space a full disk needs', () => {
    const problem = { code: 'disk_full' as const, detail: 'The disk is full.' }
    const disk = { ...health({}).disk, problem }
    expect(healthWords(health({ status: 'disk_full', disk }), NOW).mend).toContain(
      '1 MB are free, at least 64 MB',
    )
  })

  it('has words for codes that exist', () => {
    const codes = Object.keys(ERROR_TEXTS).filter((code) => mendOf(code) !== undefined)
    expect(codes).toHaveLength(13)
  })
})
