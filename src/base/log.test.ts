import { describe, expect, it } from 'vitest'
import { createLogger, type LogLevel } from './log.ts'

function capture(level: LogLevel) {
  const lines: string[] = []
  const logger = createLogger({ level, destination: { write: (line: string) => void lines.push(line) } })
  return { logger, lines, records: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) }
}

describe('createLogger', () => {
  it('writes one JSON line with level as a word and an ISO time', () => {
    const { logger, records } = capture('info')
    logger.info({ port: 1984 }, 'listening')
    expect(records()).toEqual([
      { level: 'info', time: expect.stringMatching(/^\d{4}-.*Z$/), port: 1984, msg: 'listening' },
    ])
  })

  it('writes one line without control characters, whatever a message, a field or an error contains', () => {
    const { logger, lines, records } = capture('info')
    const forged = 'a"}\n{"level":"fatal","msg":"forged"}\r\n\u001b[2J\u0000'
    logger.info({ url: forged, [forged]: 1, err: new Error(forged) }, forged)
    expect(lines.map((line) => line.replace(/\n$/, '').match(/\p{Cc}/u))).toEqual([null])
    expect(records()).toEqual([expect.objectContaining({ level: 'info', url: forged, msg: forged })])
  })

  it('keeps keys and passwords out, at the top and in nested headers', () => {
    const { logger, records } = capture('info')
    logger.info({
      password: 'p',
      req: { headers: { 'x-api-key': 'secret-1', authorization: 'Bearer secret-2' } },
    })
    expect(JSON.stringify(records())).not.toMatch(/secret|"p"/)
    expect(records()[0]).toMatchObject({ password: '[redacted]' })
  })

  it('respects the level', () => {
    const { logger, records } = capture('warn')
    logger.info('quiet')
    logger.warn('loud')
    expect(records().map((record) => record['msg'])).toEqual(['loud'])
  })

  it('writes an error with its type, message and stack', () => {
    const { logger, records } = capture('error')
    logger.error({ err: new TypeError('broken') }, 'failed')
    expect(records()[0]).toMatchObject({ err: { type: 'TypeError', message: 'broken' } })
  })
})
