import { lazy, Suspense, useMemo, useReducer, useState } from 'react'
import type { Draft, DraftColumn } from '../../../data/playground/draft.ts'
import type { PlaygroundState } from '../../../data/playground/playground-state.ts'
import { Button } from '../../../parts/controls.tsx'
import { type MessageChange, type MessageEdits, MessageList } from './message-list.tsx'
import css from '../playground.module.css'

const PromptDiff = lazy(() => import('./prompt-diff.tsx').then((file) => ({ default: file.PromptDiff })))

function withOwn(state: PlaygroundState, id: string, how: 'change' | 'type', next: MessageChange): void {
  state[how]((draft) => ({
    ...draft,
    columns: draft.columns.map((one) =>
      one.id === id ? { ...one, messages: next(one.messages ?? draft.messages) } : one,
    ),
  }))
}

function Differences({ draft, id }: { draft: Draft; id: string }) {
  const own = draft.columns.find((one) => one.id === id)?.messages ?? draft.messages
  return <PromptDiff common={draft.messages} own={own} />
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
  const [isCompared, setCompared] = useState(false)
  // Typing does not draw the page again (playground-state.ts), so the differences are drawn with each change here.
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  if (messages === undefined)
    return (
      <div>
        <Button look="plain" icon="edit" onClick={() => edits.change((list) => [...list])}>
          Different prompt
        </Button>
      </div>
    )
  return (
    <details className={css['more']} open onInput={redraw}>
      <summary>Different prompt</summary>
      <div className={css['own']} data-scrolls="true">
        <MessageList messages={messages} edits={edits} of={` of ${name}`} />
      </div>
      <div>
        <Button look="plain" aria-pressed={isCompared} onClick={() => setCompared(!isCompared)}>
          Differences
        </Button>
        <Button look="plain" onClick={() => change({ messages: undefined })}>
          Use the common prompt
        </Button>
      </div>
      {isCompared && (
        <Suspense>
          <Differences draft={state.draft()} id={id} />
        </Suspense>
      )}
    </details>
  )
}
