import { memo } from 'react'
import {
  type DraftMessage,
  movedUp,
  newMessage,
  withEntry,
  withoutEntry,
} from '../../../data/playground/draft.ts'
import { Button } from '../../../parts/controls.tsx'
import { MessageEditor } from './message-editor.tsx'

export type MessageChange = (messages: readonly DraftMessage[]) => readonly DraftMessage[]

/** Functions that change the messages of a prompt; the same object for as long as the page is open. */
export interface MessageEdits {
  change(next: MessageChange): void
  /** A change that its field shows already: nothing is drawn again. */
  type(next: MessageChange): void
}

const EditedMessage = memo(function EditedMessage({
  edits: { change, type },
  message,
  place,
  of,
}: {
  edits: MessageEdits
  message: DraftMessage
  place: number
  of: string
}) {
  const { id } = message
  return (
    <MessageEditor
      message={message}
      place={place}
      of={of}
      change={(next) => change((list) => withEntry(list, id, next))}
      type={(next) => type((list) => withEntry(list, id, next))}
      moveUp={() => change((list) => movedUp(list, id))}
      remove={() => change((list) => withoutEntry(list, id))}
    />
  )
})

/** The role that the next message most likely has. */
function nextRole(messages: readonly DraftMessage[]): 'user' | 'assistant' {
  return messages.at(-1)?.role === 'user' ? 'assistant' : 'user'
}

/** The messages of a prompt, to be edited. `of` is added to their labels. */
export function MessageList({
  messages,
  edits,
  of,
}: {
  messages: readonly DraftMessage[]
  edits: MessageEdits
  of: string
}) {
  const add = (): void => edits.change((list) => [...list, newMessage(nextRole(list))])
  return (
    <>
      {messages.map((message, place) => (
        <EditedMessage key={message.id} edits={edits} message={message} place={place} of={of} />
      ))}
      <div>
        <Button icon="plus" onClick={add}>
          Add a message
        </Button>
      </div>
    </>
  )
}
