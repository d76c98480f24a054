import { readFileSync } from 'node:fs'
import { openAI } from '@genkit-ai/compat-oai/openai'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { genkit, z } from 'genkit'
import { enableTelemetry, flushTracing } from 'genkit/tracing'

// Genkit with its plugin for OpenAI. The environment and what is printed are those of ../clients.py.
const { WEIR_URL, WEIR_KEY, PROJECT, VENDOR_URL } = process.env
const headers = { 'x-api-key': WEIR_KEY, 'langsmith-project': PROJECT }
const exporter = new OTLPTraceExporter({ url: `${WEIR_URL}/v1/traces`, headers })
await enableTelemetry({ spanProcessors: [new BatchSpanProcessor(exporter)] })

const ai = genkit({ plugins: [openAI({ apiKey: 'none', baseURL: `${VENDOR_URL}/v1`, maxRetries: 0 })] })
const model = openAI.model('gpt-4.1-mini')
const system = 'You are a helpful assistant.'

await ai.generate({ model, system, prompt: 'Hi there' })
const { stream, response } = ai.generateStream({ model, system, prompt: 'Hi there' })
for await (const _ of stream);
await response

const description = 'The weather of a city.'
const getWeather = ai.defineTool(
  { name: 'get_weather', description, inputSchema: z.object({ city: z.string() }), outputSchema: z.string() },
  async () => '18 degrees, sunny',
)
await ai.generate({ model, prompt: 'Weather in Paris?', tools: [getWeather] })

const broken = ai.generate({ model: openAI.model('gpt-broken'), prompt: 'Hi there' })
const refused = await broken.then(() => undefined, String)
if (!refused?.includes('broken')) throw new Error(`not refused: ${refused}`)
await flushTracing()

const { dependencies } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'))
const versions = ['genkit', '@genkit-ai/compat-oai'].map((name) => `${name} ${dependencies[name]}`)
console.log(versions.join(', '))
