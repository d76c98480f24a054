import { describe, expect, it } from 'vitest'
import { jsonProgress, type Progress, textProgress } from './progress.ts'

function record(make: typeof textProgress, isTerminal: boolean) {
  const [out, err]: [string[], string[]] = [[], []]
  const progress: Progress = make({
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    isTerminal,
    now: () => new Date('2026-11-20T09:08:07Z'),
  })
  return { progress, out, err }
}

const RESULT = { deployment_id: 'd', message: 'Deployment successful!', url: 'http://x/deployments/a' }

describe('P-42: the output of weir deploy', () => {
  it('in a pipe is a line for each step, with the time, and the URL alone on stdout', () => {
    const { progress, out, err } = record(textProgress, false)
    progress.done('source', '2 files')
    for (const seconds of [0, 1, 2]) progress.working('building', `line ${seconds}`, seconds)
    progress.failed('started', 'agent.ts:1  no')
    for (const percent of [0, 100]) progress.uploading(2_540_000, percent)
    progress.result('succeeded', { ...RESULT, studio_url: 'http://x/studio' })
    expect(out).toEqual(['http://x/deployments/a\n'])
    expect(err.join('')).toBe(
      '09:08:07   ✓ source             2 files\n' +
        '09:08:07   … building           line 0\n' +
        '09:08:07   ✗ started            agent.ts:1  no\n' +
        '09:08:07   … uploading          2.5 MB\n' +
        '  Studio  http://x/studio\n',
    )
  })

  it('on a terminal replaces the line of a step that goes on', () => {
    const { progress, err } = record(textProgress, true)
    progress.working('building', 'npm ci', 12.4)
    progress.done('built', '12.5 s')
    const clear = '\r\u001b[2K'
    expect(err).toEqual([
      `${clear}  ⠙ building           npm ci · 12 s`,
      `${clear}  ✓ built              12.5 s\n`,
    ])
  })

  it('with --json has the names of events that langgraph deploy has', () => {
    const { progress, out, err } = record(jsonProgress, false)
    progress.done('source', '2 files')
    for (const percent of [0, 100]) progress.uploading(2_540_000, percent)
    progress.working('building', '', 1.24)
    progress.working('building', '', 2)
    progress.line('added 2 packages')
    progress.warn('careful')
    progress.result('succeeded', { ...RESULT, studio_url: 'http://x/studio' })
    expect(err).toEqual([])
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([
      { event: 'step', step: 1, name: 'source', message: '2 files' },
      { event: 'upload_progress', size_mb: 2.5, pct: 0 },
      { event: 'upload_progress', size_mb: 2.5, pct: 100 },
      { event: 'status_change', status: 'building', elapsed_seconds: 1.2, message: '' },
      { event: 'log', message: 'added 2 packages' },
      { event: 'warn', message: 'careful' },
      { event: 'status_url', url: 'http://x/studio' },
      { event: 'result', status: 'succeeded', ...RESULT },
    ])
  })
})
