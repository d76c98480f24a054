import { expect, it } from 'vitest'
import { environmentFlags } from './container-environment.ts'

it('no secret is an argument of the command: only names that the command itself reads have their values there', () => {
  const secrets = {
    OPENAI_API_KEY: 's1',
    LANGFUSE_SECRET_KEY: 's2',
    GOOGLE_API_KEY: 's3',
    STORAGE_KEY: 's4',
    DOCKER_PASSWORD: 's5',
    REGISTRY_TOKEN: 's6',
    USER_TOKEN: 's7',
    HOME_PASSWORD: 's8',
  }
  const { flags, env } = environmentFlags(
    { ...secrets, PATH: '/bin', LANG: 'C', LC_ALL: 'C' },
    { PATH: '/own' },
  )
  expect(flags.filter((flag) => flag !== '--env').toSorted()).toEqual(
    [...Object.keys(secrets), 'LANG=C', 'LC_ALL=C', 'PATH=/bin'].toSorted(),
  )
  expect(env).toEqual({ ...secrets, PATH: '/own' })
})
