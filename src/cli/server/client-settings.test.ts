import { describe, expect, it } from 'vitest'
import { readClientSettings } from './client-settings.ts'

describe('readClientSettings', () => {
  it('has no defaults except for the data directory', () => {
    const nothing = { url: undefined, deploymentUrl: undefined, port: undefined, deploymentPort: undefined }
    expect(readClientSettings({})).toEqual({ ...nothing, apiKey: undefined, dataDir: './data' })
    expect(readClientSettings({ PORT: '0', DEPLOYMENT_PORT: ' ', WEIR_API_KEY: ' k ' })).toEqual({
      ...nothing,
      apiKey: 'k',
      dataDir: './data',
    })
    const env = { WEIR_URL: 'http://a', WEIR_DEPLOYMENT_URL: 'http://b', PORT: '1', DEPLOYMENT_PORT: '2' }
    expect(readClientSettings({ ...env, DATA_DIR: '/d' })).toEqual({
      ...{ url: 'http://a', deploymentUrl: 'http://b', port: '1', deploymentPort: '2' },
      ...{ apiKey: undefined, dataDir: '/d' },
    })
  })
})
