import { getLogger } from '@langchain/langgraph-sdk/logging'
import { beforeEach, describe, expect, it } from 'vitest'
import { type GraphLogLine, installGraphLogger } from './logger.ts'

let lines: Partial<GraphLogLine>[]
beforeEach(() => {
  lines = []
  installGraphLogger((line) => void lines.push(line))
})

describe('getLogger of the SDK', () => {
  it('has a method for every level of the SDK, which returns the logger', () => {
    const logger = getLogger()
    logger.error('a').warn('b').info('c').http('d').verbose('e').debug('f').silly('g')
    logger.help('h').data('i').prompt('j').input('k')
    expect(lines.map(({ level, text }) => `${text} ${level}`)).toEqual([
      ...['a error', 'b warn', 'c info', 'd info', 'e debug', 'f debug', 'g trace'],
      ...['h info', 'i info', 'j info', 'k info'],
    ])
  })

  it('accepts a text with fields, an error, or an object with a message', () => {
    const logger = getLogger()
    const error = new Error('boom')
    const { stack } = error
    logger.info('text', { n: 1 }, { of: 'two' })
    logger.error('text', error)
    logger.error(error)
    logger.info({ message: 'said', n: 2 })
    logger.info(7)
    expect(lines.map(({ text, fields }) => [text, fields])).toEqual([
      ['text', { n: 1, of: 'two' }],
      ['text', { error: 'boom', stack }],
      ['boom', { stack }],
      ['said', { n: 2 }],
      ['7', null],
    ])
  })

  it('limits the length of lines, and prints values that JSON cannot hold', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    getLogger().info('x'.repeat(5_000), { long: 'y'.repeat(5_000) })
    getLogger().info('cycle', cycle)
    expect(lines[0]?.text).toHaveLength(4_000)
    expect(JSON.stringify(lines[0]?.fields).length).toBeLessThan(4_100)
    expect(lines[1]?.fields).toEqual({ cut: expect.stringContaining('[Circular') })
  })

  it('always has fields that are an object the server reads', () => {
    let deep: object = {}
    for (let depth = 0; depth < 1_500; depth++) deep = [deep]
    getLogger().info('deep', { deep })
    getLogger().info({ message: 'odd', toJSON: () => 'text' })
    expect(lines.map(({ fields }) => fields)).toEqual([
      { cut: expect.stringContaining('[[[') },
      { cut: '"text"' },
    ])
  })
})
