import { expect, it } from 'vitest'
import { buildEnvironment } from './environment.ts'

it('P-18: a build gets the variables of package managers, and no others of the server', () => {
  const server = {
    PATH: '/bin',
    PIP_INDEX_URL: 'https://packages',
    SECRETS_KEY: 'of the server',
    HOME: undefined,
  }
  const env = buildEnvironment(server, '/cache')
  expect(env).toMatchObject({ PATH: '/bin', PIP_INDEX_URL: 'https://packages', npm_config_cache: '/cache' })
  expect(Object.keys(env)).not.toContain('SECRETS_KEY')
  expect(Object.keys(env)).not.toContain('HOME')
})
