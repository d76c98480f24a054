import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createLogger } from '../base/log.ts'
import { newUuid } from '../base/ids.ts'
import { readConfig } from '../config.ts'
import { startServer } from './server.ts'

it('a start reports misspelt settings in a message that a terminal shows unchanged', async () => {
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  const config = readConfig({
    GRAPHS: '/nowhere/langgraph.json',
    PORT: '0',
    DEPLOYMENT_PORT: '0',
    DATADIR: 'x',
  })
  await expect(startServer(config, { logger })).rejects.toThrow('/nowhere')
  const msg = expect.stringMatching(/^DATADIR is not a setting and is not read; DATA_DIR is one/)
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    { level: 'warn', time: expect.any(String), msg },
  ])
})

it('a start with a missing GRAPHS file fails before it creates or opens anything', async () => {
  const dataDir = join(tmpdir(), `weir-${newUuid()}`)
  const graphs = join(dataDir, 'langgraph.json')
  const config = readConfig({ DATA_DIR: dataDir, GRAPHS: graphs, PORT: '0', DEPLOYMENT_PORT: '0' })
  await expect(startServer(config, { logger: createLogger({ level: 'silent' }) })).rejects.toMatchObject({
    code: 'config_invalid',
    message: expect.stringContaining(graphs),
  })
  expect(existsSync(dataDir)).toBe(false)
})
