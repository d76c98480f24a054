import { expect, it } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { type HostLoss, HostLink } from './link.ts'

it('RUN-15: a host that does not open in time is ended, with the reason', async () => {
  const { promise, resolve } = Promise.withResolvers<HostLoss>()
  const open = {
    type: 'open',
    graphs: [],
    store_index: null,
    store_ttl: null,
    storage: {},
    tracing_project: 'p',
    own_api: null,
    report_files: false,
  } as const
  const link = new HostLink(
    {
      command: { file: process.execPath, args: ['-e', 'setInterval(() => undefined, 1000)'] },
      cwd: '/',
      env: {},
      open: { ...open, graphs: [] },
      openMs: 200,
      logger: createLogger({ level: 'silent' }),
      record: async () => async () => undefined,
    },
    {
      opened: () => undefined,
      free: () => undefined,
      passed: () => undefined,
      gone: (_link, loss) => resolve(loss),
      loaded: () => undefined,
    },
  )
  expect(await promise).toMatchObject({
    unopened: true,
    message: 'The graphs took longer than 0.2 s to load.',
  })
  expect(link.state).toBe('gone')
})
