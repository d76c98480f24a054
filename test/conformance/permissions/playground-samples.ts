import { fixed, type Sample } from './sample.ts'

export const PLAYGROUND_SAMPLES: Readonly<Record<string, Sample>> = {
  // The workspaces have no secret for a provider, so no provider is called.
  'POST /playground/runs': {
    ...fixed('/playground/runs', {
      provider: 'openai',
      model: 'm',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    }),
    status: () => [409],
  },
  'POST /workspaces/current/secrets': fixed('/workspaces/current/secrets', [{ key: 'STRAY', value: null }]),
  'PUT /workspaces/current/secrets/{key}': fixed('/workspaces/current/secrets/STRAY', {
    value: 'v',
    hosts: ['127.0.0.1'],
  }),
  'DELETE /workspaces/current/secrets/{key}': {
    ...fixed('/workspaces/current/secrets/UNKNOWN'),
    status: () => [404],
  },
}
