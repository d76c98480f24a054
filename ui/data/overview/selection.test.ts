import { describe, expect, it } from 'vitest'
import { parseFilter } from '../../../src/trace/filter/filter.ts'
import { groupByOf, groupClause, narrowed, rowsPath, slowerClause } from './selection.ts'

const DAY = { start: '2026-11-01T00:00:00.000Z', end: '2026-11-02T00:00:00.000Z' }

describe('the rows of a figure', () => {
  it('are those of the filter, the subject, the group and the bucket', () => {
    const path = rowsPath({ project: 'p', filter: 'has(tags, "a")', subject: 'llm', group: 'model' }, DAY, [
      groupClause('model', 'gpt "5"'),
    ])
    const { pathname, searchParams } = new URL(path, 'http://localhost')
    expect(pathname).toBe('/projects/p')
    expect(Object.fromEntries(searchParams)).toEqual({
      from: DAY.start,
      to: DAY.end,
      view: 'runs',
      q: String.raw`and(has(tags, "a"), eq(run_type, "llm"), eq(model, "gpt \"5\""))`,
    })
    expect(rowsPath({ project: 'p', filter: '', subject: 'traces', group: '' }, DAY, [])).not.toContain('q=')
  })

  it('are named by filters that the server can read', () => {
    const clauses = [
      groupClause('tag', `it's "new"\n`),
      groupClause('metadata.env', 'prod'),
      groupClause('run_type', 'tool'),
      slowerClause('ttft', 0.4321),
    ]
    expect(parseFilter(narrowed('or(eq(name, "a"), eq(name, "b"))', clauses))).toMatchObject({ kind: 'and' })
  })

  it('at a percentile are those that took as long or longer, in whole microseconds', () => {
    expect(slowerClause('latency', 1.25)).toBe('gte(latency, "1250000us")')
    expect(slowerClause('latency', 0.0012345)).toBe('gte(latency, "1235us")')
    expect(slowerClause('latency', 0.3)).toBe('gte(latency, "300000us")')
  })

  it('a text of the address names a grouping, or none', () => {
    expect(['model', 'metadata.env', 'metadata.', 'fortune'].map(groupByOf)).toEqual([
      'model',
      'metadata.env',
      '',
      '',
    ])
  })
})
