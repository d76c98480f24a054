import { useMemo } from 'react'
import { type Draft, newTool, withEntry, withoutEntry } from '../../../data/playground/draft.ts'
import type { PlaygroundState } from '../../../data/playground/playground-state.ts'
import { Button } from '../../../parts/controls.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { type MessageChange, type MessageEdits, MessageList } from './message-list.tsx'
import css from '../playground.module.css'
import { ToolEditor } from './tool-editor.tsx'
import { TypedText } from '../typed.tsx'
import { useDraft } from '../use-state.ts'

function withMessages(change: MessageChange): (draft: Draft) => Draft {
  return (draft) => ({ ...draft, messages: change(draft.messages) })
}

function Tools({ state, tools }: { state: PlaygroundState; tools: Draft['tools'] }) {
  const add = (): void => state.change((draft) => ({ ...draft, tools: [...draft.tools, newTool()] }))
  return (
    <details className={css['more']}>
      <summary>Tools{tools.length > 0 && `, ${tools.length}`}</summary>
      <p className={css['note']}>They are offered and not executed: type their results into the prompt.</p>
      {tools.map((tool, place) => (
        <ToolEditor
          key={tool.id}
          tool={tool}
          place={place}
          type={(fields) =>
            state.type((draft) => ({
              ...draft,
              tools: withEntry(draft.tools, tool.id, (one) => ({ ...one, ...fields })),
            }))
          }
          left={() => state.change((draft) => ({ ...draft }))}
          remove={() => state.change((draft) => ({ ...draft, tools: withoutEntry(draft.tools, tool.id) }))}
        />
      ))}
      <div>
        <Button icon="plus" onClick={add}>
          Add a tool
        </Button>
      </div>
    </details>
  )
}

/** The prompt that every model gets, unless it has its own: its messages, the tools, and the schema of the answer. */
export function Prompt({ state, notes }: { state: PlaygroundState; notes: readonly string[] }) {
  const { messages, tools, output_schema } = useDraft(state)
  const edits = useMemo(
    (): MessageEdits => ({
      change: (next) => state.change(withMessages(next)),
      type: (next) => state.type(withMessages(next)),
    }),
    [state],
  )
  return (
    <section className={css['prompt']} aria-label="Prompt" data-scrolls="true">
      {notes.map((note) => (
        <p key={note} className={css['warn']}>
          <Icon name="warning" /> {note}
        </p>
      ))}
      <MessageList messages={messages} edits={edits} of="" />
      <Tools state={state} tools={tools} />
      <details className={css['more']} open={output_schema !== ''}>
        <summary>Structured output</summary>
        <p className={css['note']}>A JSON Schema that the answer must fit; empty for free text.</p>
        <TypedText
          label="JSON Schema of the answer"
          text={output_schema}
          isCode
          type={(text) => state.type((draft) => ({ ...draft, output_schema: text }))}
        />
      </details>
    </section>
  )
}
