import { useState } from 'react'
import { Button, CopyButton } from './controls.tsx'
import { Failure } from './states.tsx'
import css from './snippets.module.css'

interface Snippet {
  name: string
  text(origin: string, key: string): string
}

/** Placeholder for the key. */
const NO_KEY = '<your key>'
/** The key in snippets for servers that accept any key; clients warn if they have none. */
const ANY_KEY = 'any'
/** The part of a key that names its kind: `lsv2_sk_`. */
const KIND = /^lsv2_\w\w_/

const SNIPPETS: readonly Snippet[] = [
  {
    name: 'Environment',
    text: (origin, key) =>
      `export LANGSMITH_TRACING=true\nexport LANGSMITH_ENDPOINT=${origin}\nexport LANGSMITH_API_KEY=${key}`,
  },
  {
    name: 'Python',
    text: (origin, key) => `# pip install langsmith
from langsmith import Client, traceable

client = Client(api_url="${origin}", api_key="${key}")

@traceable(client=client)
def greet(name: str) -> str:
    return f"Hello, {name}"

greet("Weir")
client.flush()`,
  },
  {
    name: 'TypeScript',
    text: (origin, key) => `// npm install langsmith
import { Client } from 'langsmith'
import { traceable } from 'langsmith/traceable'

const client = new Client({ apiUrl: '${origin}', apiKey: '${key}' })
const greet = traceable(async (name: string) => \`Hello, \${name}\`, { name: 'greet', client, tracingEnabled: true })
await greet('Weir')
await client.awaitPendingTraceBatches()`,
  },
  {
    name: 'OpenTelemetry',
    text: (origin, key) =>
      `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}/otel\nexport OTEL_EXPORTER_OTLP_HEADERS="x-api-key=${key}"`,
  },
  {
    name: 'curl',
    text: (origin, key) => `curl ${origin}/runs \\
  -H 'x-api-key: ${key}' -H 'content-type: application/json' \\
  -d '{"id": "'$( (uuidgen || cat /proc/sys/kernel/random/uuid) 2>/dev/null | tr A-Z a-z)'", "name": "hello", "run_type": "chain",
       "start_time": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'", "end_time": "'$(date -u +%Y-%m-%dT%H:%M:%SZ)'",
       "inputs": {"name": "Weir"}, "outputs": {"text": "Hello, Weir"}}'`,
  },
]

/** A key for the snippets, and how to make it (data/settings/keys.ts). */
interface KeySource {
  isNeedless: boolean
  text: string | undefined
  reason: string | undefined
  isBusy: boolean
  error: Error | null
  make(): void
}

/** Replaces the secret part of a key with dots, so that nobody else can read it on the screen. */
function masked(key: string): string {
  return `${KIND.exec(key)?.[0] ?? ''}${'•'.repeat(8)}`
}

function KeyLine({ source, isShown, show }: { source: KeySource; isShown: boolean; show(): void }) {
  const { isNeedless, text, reason, isBusy, error, make } = source
  if (isNeedless) return <p className={css['note']}>The server runs with AUTH=off and accepts any key.</p>
  if (text !== undefined)
    return (
      <p className={css['note']}>
        <Button look="plain" aria-pressed={isShown} onClick={show}>
          {isShown ? 'Hide the key' : 'Show the key'}
        </Button>{' '}
        This new key is here only until you leave the page. Revoke it under Settings.
      </p>
    )
  return (
    <>
      <p className={css['note']}>
        <Button disabled={reason !== undefined || isBusy} title={reason} onClick={make}>
          Put a new key in
        </Button>{' '}
        {reason ?? 'The server has only the hash of your key, so that it cannot show it here.'}
      </p>
      {error !== null && <Failure error={error} />}
    </>
  )
}

/**
 * Shows code of several clients that sends the first trace to this server. A copied snippet has the key even if the key
 * is hidden.
 */
export function Snippets({ source }: { source: KeySource }) {
  const [chosen, choose] = useState(0)
  const [isShown, setShown] = useState(false)
  const key = source.isNeedless ? ANY_KEY : (source.text ?? NO_KEY)
  const textWith = (shown: string): string => SNIPPETS[chosen]?.text(location.origin, shown) ?? ''
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
        {textWith(source.text === undefined || isShown ? key : masked(key))}
      </pre>
      <CopyButton text={textWith(key)} />
      <KeyLine source={source} isShown={isShown} show={() => setShown(!isShown)} />
    </div>
  )
}
