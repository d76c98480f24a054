import { readFileSync } from 'node:fs'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { Observability } from '@mastra/observability'
import { OtelExporter } from '@mastra/otel-exporter'
import { z } from 'zod'

// Mastra with its exporter for OpenTelemetry. The environment and what is printed are those of ../clients.py.
const { WEIR_URL, WEIR_KEY, PROJECT, VENDOR_URL } = process.env
const headers = { 'x-api-key': WEIR_KEY, 'langsmith-project': PROJECT }
const custom = { endpoint: `${WEIR_URL}/v1/traces`, protocol: 'http/protobuf', headers }

const agent = (id, model, more = {}) =>
  new Agent({
    id,
    name: id,
    instructions: 'You are a helpful assistant.',
    model: { id: `openai/${model}`, url: `${VENDOR_URL}/v1`, apiKey: 'none' },
    maxRetries: 0,
    ...more,
  })
const getWeather = createTool({
  id: 'get_weather',
  description: 'The weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async () => ({ weather: '18 degrees, sunny' }),
})
const mastra = new Mastra({
  agents: {
    plain: agent('plain', 'gpt-4.1-mini'),
    weather: agent('weather', 'gpt-4.1-mini', { tools: { get_weather: getWeather } }),
    broken: agent('broken', 'gpt-broken'),
  },
  observability: new Observability({
    configs: { otel: { serviceName: 'app', exporters: [new OtelExporter({ provider: { custom } })] } },
  }),
  logger: false,
})

await mastra.getAgent('plain').generate('Hi there')
const { textStream } = await mastra.getAgent('plain').stream('Hi there')
for await (const _ of textStream);
await mastra.getAgent('weather').generate('Weather in Paris?')
const refused = await mastra
  .getAgent('broken')
  .generate('Hi there')
  .then(() => undefined, String)
if (!refused?.includes('broken')) throw new Error(`not refused: ${refused}`)
await mastra.observability.shutdown()

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const versions = ['@mastra/core', '@mastra/otel-exporter'].map((name) => `${name} ${dependencies[name]}`)
console.log(versions.join(', '))
