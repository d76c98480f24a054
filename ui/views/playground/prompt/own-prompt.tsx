import { useMemo } from 'react'
import type { DraftColumn } from '../../../data/playground/draft.ts'
import type { PlaygroundState } from '../../../data/playground/playground-state.ts'
import { Button } from '../../../parts/controls.tsx'
import { type MessageChange, type MessageEdits, MessageList } from './message-list.tsx'
import css from '../playground.module.css'

function withOwn(state: PlaygroundState, id: string, how: 'change' | 'type', next: MessageChange): void {
  state[how]((draft) => ({
    ...draft,
    columns: draft.columns.map((one) =>
      one.id === id ? { ...one, messages: next(one.messages ?? draft.messages) } : one,
    ),
  }))
}

/** A prompt for one model alone, so that two prompts can be compared. It begins as a copy of the common prompt. */
export function OwnPrompt({
  state,
  column: { id, messages },
  name,
  change,
}: {
  state: PlaygroundState
  column: DraftColumn
  name: string
  change(fields: Partial<DraftColumn>): void
}) {
  const edits = useMemo(
    (): MessageEdits => ({
      change: (next) => withOwn(state, id, 'change', next),
      type: (next) => withOwn(state, id, 'type', next),
    }),
    [state, id],
  )
  if (messages === undefined)
    return (
      <div>
        <Button look="plain" icon="edit" onClick={() => edits.change((list) => [...list])}>
          Own prompt
        </Button>
      </div>
    )
  return (
    <details className={css['more']} open>
      <summary>Own prompt</summary>
      <div className={css['own']} data-scrolls="true">
        <MessageList messages={messages} edits={edits} of={` of ${name}`} />
      </div>
      <div>
        <Button look="plain" onClick={() => change({ messages: undefined })}>
          Use the common prompt
        </Button>
      </div>
    </details>
  )
}
