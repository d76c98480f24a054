import { describe, expect, it } from 'vitest'
import { readConfig } from '../../config.ts'
import { serveLogger } from '../commands/serve.ts'
import { misspeltText } from '../../base/text/misspelt-names.ts'
import { createTerminalLog } from './terminal-log.ts'

const line = (level: string, msg: string, more: object = {}): string =>
  JSON.stringify({ level, time: '2026-11-22T09:00:00.000Z', ...more, msg })

function logged(lines: readonly string[], { all = false } = {}): string[] {
  const written: string[] = []
  const log = createTerminalLog((text) => void written.push(text.slice('09:00:00  '.length)), {
    colors: false,
    all,
  })
  for (const one of lines) log.write(one)
  expect(written).toEqual([])
  log.open()
  return written
}

describe('the log on a terminal', () => {
  const lines = [
    line('info', 'the ClickHouse tables are migrated', { version: 1 }),
    line('warn', 'a default port is taken: listening on the next free one', { port: 2025 }),
    line('warn', misspeltText({ name: 'PROT', meant: 'PORT' })),
    line('info', 'graphs are loaded', { graphs: ['agent'] }),
  ]

  it('shows warnings and lines about graphs, and nothing that the welcome text has too', () => {
    expect(logged(lines)).toEqual([
      'PROT is not a setting and is not read; PORT is one.\n',
      'Graphs are loaded: agent\n',
    ])
  })

  it('shows the fields of a line that its message does not contain', () => {
    const taken = { setting: 'OTLP_GRPC_PORT', taken: 4317 }
    const facts = { deployment: 'proj', project_langgraph: '1.7.3' }
    expect(
      logged([
        line('warn', 'a default port is taken: there is no OTLP over gRPC', taken),
        line('warn', 'The project uses LangGraph 1.7.3', facts),
        line('warn', 'The project "proj" uses LangGraph 1.7.3', facts),
      ]),
    ).toEqual([
      "The project uses LangGraph 1.7.3 { deployment: 'proj' }\n",
      'The project "proj" uses LangGraph 1.7.3\n',
    ])
  })

  it('shows every line with the option all', () => {
    expect(logged(lines, { all: true })[0]).toBe('the ClickHouse tables are migrated { version: 1 }\n')
  })
})

describe('the log of weir serve', () => {
  /** A warning and an info line as printed on a terminal. */
  function onTerminal(env: Record<string, string>): string {
    let written = ''
    const stdout = { isTTY: true, hasColors: () => false, write: (text: string) => ((written += text), true) }
    const logger = serveLogger(readConfig({ GRAPHS: '', ...env }), stdout)
    logger.info('listening')
    logger.warn('the disk is slow')
    return written
  }

  it('is text with warnings only on a terminal', () => {
    expect(onTerminal({})).toMatch(/^\d\d:\d\d:\d\d  the disk is slow\n$/)
  })
})
