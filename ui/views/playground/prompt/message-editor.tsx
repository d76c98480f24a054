import { type DragEvent, useState } from 'react'
import {
  callBlock,
  type DraftBlock,
  type DraftMessage,
  mediaBlock,
  type Role,
  textBlock,
  withEntry,
  withoutEntry,
} from '../../../data/playground/draft.ts'
import { CHOSEN_TYPES, mediaBlockOf } from '../../../data/messages/media-file.ts'
import { Button, IconButton, Select } from '../../../parts/controls.tsx'
import { FileButton } from '../../../parts/forms/file-button.tsx'
import { BlockEditor } from './block-editor.tsx'
import css from '../playground.module.css'
import { TypedField } from '../typed.tsx'

const ROLES: readonly (readonly [Role, string])[] = [
  ['system', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
  ['tool', 'tool'],
]

type Next = (message: DraftMessage) => DraftMessage

interface EditorProps {
  message: DraftMessage
  /** Place of the message in the prompt, from 0. */
  place: number
  /** The prompt of the message, for labels: ` of Model 2`; '' for the common prompt. */
  of: string
  change(next: Next): void
  type(next: Next): void
  moveUp(): void
  remove(): void
}

/** Reads files and adds them to the message; shows an error for those that cannot be read. */
function useFiles(change: EditorProps['change']) {
  const [fault, setFault] = useState('')
  const add = async (files: readonly File[]): Promise<void> => {
    setFault('')
    try {
      const blocks = (await Promise.all(files.map(mediaBlockOf))).map(mediaBlock)
      change((message) => ({ ...message, blocks: [...message.blocks, ...blocks] }))
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }
  return { fault, add: (files: readonly File[]) => void add(files) }
}

/** The role of a message, the call that it answers, and its buttons. */
function Head({ message, place, of, change, type, moveUp, remove }: EditorProps) {
  const { role, tool_call_id } = message
  return (
    <div className={css['messageHead']}>
      <Select<Role>
        label={`Role of message ${place + 1}${of}`}
        value={role}
        options={ROLES}
        onChange={(next) => change((one) => ({ ...one, role: next }))}
      />
      {role === 'tool' && (
        <TypedField
          label={`Id of the call that message ${place + 1}${of} answers`}
          placeholder="id of the call"
          text={tool_call_id}
          type={(text) => type((one) => ({ ...one, tool_call_id: text }))}
        />
      )}
      <span className={css['push']} />
      {place > 0 && <IconButton icon="up" label={`Move message ${place + 1}${of} up`} onClick={moveUp} />}
      <IconButton icon="close" label={`Remove message ${place + 1}${of}`} onClick={remove} />
    </div>
  )
}

/** Edits one message: its role, and its blocks in their order. */
export function MessageEditor({ message, place, of, change, type, moveUp, remove }: EditorProps) {
  const { role, blocks } = message
  const files = useFiles(change)
  const label = `Message ${place + 1}${of}`
  const add = (block: DraftBlock): void => change((one) => ({ ...one, blocks: [...one.blocks, block] }))
  const dropped = (event: DragEvent): void => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    files.add([...event.dataTransfer.files])
  }
  return (
    <article
      className={css['message']}
      data-role={role}
      aria-label={label}
      onDragOver={(event) => event.preventDefault()}
      onDrop={dropped}
    >
      <Head {...{ message, place, of, change, type, moveUp, remove }} />
      {blocks.map((block, at) => (
        <BlockEditor
          key={block.id}
          block={block}
          label={at === 0 ? label : `${label}, block ${at + 1}`}
          isOnly={blocks.length === 1}
          paste={files.add}
          type={(next) => type((one) => ({ ...one, blocks: withEntry(one.blocks, block.id, () => next) }))}
          remove={() => change((one) => ({ ...one, blocks: withoutEntry(one.blocks, block.id) }))}
        />
      ))}
      {files.fault !== '' && (
        <p className={css['bad']} role="alert">
          {files.fault}
        </p>
      )}
      <div className={css['adds']}>
        <Button look="plain" icon="plus" onClick={() => add(textBlock())}>
          Text
        </Button>
        <FileButton name={`Files for message ${place + 1}${of}`} accept={CHOSEN_TYPES} add={files.add} />
        {role === 'assistant' && (
          <Button look="plain" icon="plus" onClick={() => add(callBlock())}>
            Tool call
          </Button>
        )}
      </div>
    </article>
  )
}
