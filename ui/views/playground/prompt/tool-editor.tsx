import type { DraftTool } from '../../../data/playground/draft.ts'
import { IconButton } from '../../../parts/controls.tsx'
import { Icon } from '../../../parts/icon.tsx'
import css from '../playground.module.css'
import { TypedField, TypedText } from '../typed.tsx'

/** Edits one tool that is offered to the models. */
export function ToolEditor({
  tool,
  place,
  type,
  left,
  remove,
}: {
  tool: DraftTool
  place: number
  type(fields: Partial<DraftTool>): void
  /** Called after the name was typed, to draw the lists with this name again. */
  left(): void
  remove(): void
}) {
  const label = `Tool ${place + 1}`
  return (
    <article className={css['call']} aria-label={label}>
      <div className={css['pair']}>
        <Icon name="tool" color="var(--tool)" />
        <TypedField
          label={`${label}, name`}
          placeholder="name"
          text={tool.name}
          type={(name) => type({ name })}
          left={left}
        />
        <span className={css['push']} />
        <IconButton icon="close" label={`Remove tool ${place + 1}`} onClick={remove} />
      </div>
      <TypedText
        label={`${label}, description`}
        placeholder="What it does, and when to call it"
        text={tool.description}
        type={(description) => type({ description })}
      />
      <TypedText
        label={`${label}, schema of its arguments`}
        text={tool.schema}
        isCode
        type={(schema) => type({ schema })}
      />
    </article>
  )
}
