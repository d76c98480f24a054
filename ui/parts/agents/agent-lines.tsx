import { useState } from 'react'
import { Button, CopyButton } from '../controls.tsx'
import css from '../snippets.module.css'
import { AGENT_CLIENTS } from './agent-clients.ts'

/** Placeholder for the key. */
const NO_KEY = '<your key>'

/** Shows the lines with which each client of MCP connects to `url`; with AUTH=off (`isOpen`) none has a key. */
export function AgentLines({ name, url, isOpen }: { name: string; url: string; isOpen: boolean }) {
  const [chosen, choose] = useState(0)
  const [hasKey, setKey] = useState(false)
  const client = AGENT_CLIENTS[chosen]!
  const text = client.lines({ name, url, key: hasKey && !isOpen ? NO_KEY : undefined })
  return (
    <div className={css['snippets']}>
      <div className={css['names']} role="group" aria-label="Client">
        {AGENT_CLIENTS.map((one, place) => (
          <Button key={one.name} look="plain" aria-pressed={place === chosen} onClick={() => choose(place)}>
            {one.name}
          </Button>
        ))}
      </div>
      <p className={css['note']}>{client.where}</p>
      <pre className={css['code']} tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} label="Copy the lines" />
      {isOpen ? (
        <p className={css['note']}>The server runs with AUTH=off and asks for no key.</p>
      ) : (
        <p className={css['note']}>
          <Button look="plain" aria-pressed={hasKey} onClick={() => setKey(!hasKey)}>
            {hasKey ? 'Without a key' : 'With a key'}
          </Button>{' '}
          {hasKey
            ? 'Make one under Settings, API keys.'
            : 'The client opens a page here, on which you allow it. Settings, API keys, then lists it.'}
        </p>
      )}
    </div>
  )
}
