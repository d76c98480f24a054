import type { DraftBlock } from '../../../data/playground/draft.ts'
import { Media } from '../../../parts/chat/media.tsx'
import { IconButton } from '../../../parts/controls.tsx'
import { Icon } from '../../../parts/icon.tsx'
import css from '../playground.module.css'
import { TypedField, TypedText } from '../typed.tsx'

interface BlockProps {
  block: DraftBlock
  label: string
  /** The only block of its message has no button that removes it. */
  isOnly: boolean
  paste(files: readonly File[]): void
  type(block: DraftBlock): void
  remove(): void
}

type CallBlock = DraftBlock & { kind: 'call' }

/**
 * A call of a tool: a name, an id, and the arguments as JSON. `typed` collects the changes of all fields, because they
 * cause no drawing.
 */
function CallFields({
  block,
  label,
  type,
}: {
  block: CallBlock
  label: string
  type(block: DraftBlock): void
}) {
  const typed = { ...block }
  const change = (fields: Partial<CallBlock>): void => type({ ...Object.assign(typed, fields) })
  return (
    <div className={css['call']}>
      <div className={css['pair']}>
        <Icon name="tool" color="var(--tool)" />
        <TypedField
          label={`${label}, name of the tool`}
          placeholder="name of the tool"
          text={block.name}
          type={(name) => change({ name })}
        />
        <TypedField
          label={`${label}, id of the call`}
          placeholder="id of the call"
          text={block.call_id}
          type={(call_id) => change({ call_id })}
        />
      </div>
      <TypedText label={`${label}, arguments`} text={block.args} isCode type={(args) => change({ args })} />
    </div>
  )
}

function Content({ block, label, paste, type }: Omit<BlockProps, 'isOnly' | 'remove'>) {
  switch (block.kind) {
    case 'text':
      return (
        <TypedText
          label={label}
          text={block.text}
          placeholder="Text"
          paste={paste}
          type={(text) => type({ ...block, text })}
        />
      )
    case 'call':
      return <CallFields block={block} label={label} type={type} />
    case 'media':
      return <Media block={{ ...block.block }} />
    case 'other':
      return (
        <TypedText
          label={`${label}, as JSON`}
          text={block.text}
          isCode
          type={(text) => type({ ...block, text })}
        />
      )
  }
}

/** Edits one block of a message; media are shown and can be removed. */
export function BlockEditor(props: BlockProps) {
  const { label, isOnly, remove } = props
  return (
    <div className={css['block']}>
      <Content {...props} />
      {!isOnly && <IconButton icon="close" label={`Remove ${label}`} onClick={remove} />}
    </div>
  )
}
