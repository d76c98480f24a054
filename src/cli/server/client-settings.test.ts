import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readClientSettings, readDeploySettings } from './client-settings.ts'

describe('readClientSettings', () => {
  it('has no defaults except for the data directory', () => {
    const loginsFile = join(homedir(), '.config', 'weir', 'logins.json')
    const nothing = {
      loginsFile,
      url: undefined,
      deploymentUrl: undefined,
      port: undefined,
      deploymentPort: undefined,
    }
    expect(readClientSettings({})).toEqual({ ...nothing, apiKey: undefined, dataDir: './data' })
    expect(readClientSettings({ PORT: '0', DEPLOYMENT_PORT: ' ', WEIR_API_KEY: ' k ' })).toEqual({
      ...nothing,
      apiKey: 'k',
      dataDir: './data',
    })
    const env = { WEIR_URL: 'http://a', WEIR_DEPLOYMENT_URL: 'http://b', PORT: '1', DEPLOYMENT_PORT: '2' }
    expect(readClientSettings({ ...env, DATA_DIR: '/d', XDG_CONFIG_HOME: '/c' })).toEqual({
      loginsFile: '/c/weir/logins.json',
      url: 'http://a',
      deploymentUrl: 'http://b',
      port: '1',
      deploymentPort: '2',
      apiKey: undefined,
      dataDir: '/d',
    })
  })
})

describe('readDeploySettings', () => {
  it('P-14: takes the key of the environment before that of `.env`, each in the order of the variables', () => {
    const key = (env: Record<string, string>, dotEnv: Record<string, string> = {}) =>
      readDeploySettings(dotEnv, env).key
    expect(key({})).toBeUndefined()
    expect(key({ WEIR_API_KEY: ' ' }, { LANGCHAIN_API_KEY: 'd' })).toEqual({
      name: 'LANGCHAIN_API_KEY',
      value: 'd',
    })
    const all = { LANGCHAIN_API_KEY: 'd', LANGSMITH_API_KEY: 'c', LANGGRAPH_HOST_API_KEY: 'b' }
    expect(key(all, { WEIR_API_KEY: 'a' })).toEqual({ name: 'LANGGRAPH_HOST_API_KEY', value: 'b' })
    expect(key({ ...all, WEIR_API_KEY: 'a' })).toEqual({ name: 'WEIR_API_KEY', value: 'a' })
  })
})
