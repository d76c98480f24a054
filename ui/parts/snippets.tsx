import { useState } from 'react'
import { Button, CopyButton } from './controls.tsx'
import css from './snippets.module.css'

interface Snippet {
  name: string
  text(origin: string): string
}

const KEY = '<your key>'

const SNIPPETS: readonly Snippet[] = [
  {
    name: 'Environment',
    text: (origin) =>
      `export LANGSMITH_TRACING=true\nexport LANGSMITH_ENDPOINT=${origin}\nexport LANGSMITH_API_KEY=${KEY}`,
  },
  {
    name: 'Python',
    text: (origin) => `# pip install langsmith
from langsmith import Client, traceable

client = Client(api_url="${origin}", api_key="${KEY}")

@traceable(client=client)
def greet(name: str) -> str:
    return f"Hello, {name}"

greet("Weir")
client.flush()`,
  },
  {
    name: 'TypeScript',
    text: (origin) => `// npm install langsmith
import { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'

const client = new Client({ apiUrl: '${origin}', apiKey: '${KEY}' })
const greet = traceable(async (name: string) => \`Hello, \${name}\`, { name: 'greet', client, tracingEnabled: true })
await greet('Weir')
await client.awaitPendingTraceBatches()`,
  },
  {
    name: 'OpenTelemetry',
    text: (origin) =>
      `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}/otel\nexport OTEL_EXPORTER_OTLP_HEADERS="x-api-key=${KEY}"`,
  },
  {
    name: 'curl',
    text: (origin) => `curl ${origin}/runs \\
  -H 'x-api-key: ${KEY}' -H 'content-type: application/json' \\
  -d '{"id": "'$(uuidgen | tr A-Z a-z)'", "name": "hello", "run_type": "chain",
       "start_time": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'", "end_time": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'",
       "inputs": {"name": "Weir"}, "outputs": {"text": "Hello, Weir"}}'`,
  },
]

/** How to send the first trace to this server, with several clients. */
export function Snippets() {
  const [chosen, choose] = useState(0)
  const text = SNIPPETS[chosen]?.text(location.origin) ?? ''
  return (
    <div className={css['snippets']}>
      <div className={css['names']} role="group" aria-label="Client">
        {SNIPPETS.map(({ name }, place) => (
          <Button key={name} look="plain" aria-pressed={place === chosen} onClick={() => choose(place)}>
            {name}
          </Button>
        ))}
      </div>
      <pre className={css['code']} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} />
    </div>
  )
}
