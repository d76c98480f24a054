import type { ClipboardEvent } from 'react'
import type { InputField } from '../../../data/studio/input/input-fields.ts'
import { Field } from '../../../parts/controls.tsx'
import { type ChosenMedia, MediaPicker } from './media-picker.tsx'
import css from '../studio.module.css'

export interface StartTexts {
  /** Texts of the fields, by name. */
  fields: ReadonlyMap<string, string>
  json: string
}

function FieldOf({ field, start }: { field: InputField; start: string }) {
  const { name, kind, choices, title } = field
  const options = kind === 'boolean' ? ['true', 'false'] : choices.map(({ text }) => text)
  return (
    <label title={title}>
      <span>
        {name} <span className={css['note']}>{kind === 'text' || kind === name ? '' : kind}</span>
      </span>
      {kind === 'choice' || kind === 'boolean' ? (
        <select name={`in.${name}`} defaultValue={start}>
          <option value="">–</option>
          {options.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : kind === 'number' ? (
        <Field name={`in.${name}`} inputMode="decimal" defaultValue={start} />
      ) : (
        <textarea
          name={`in.${name}`}
          rows={kind === 'messages' ? 3 : 1}
          spellCheck={false}
          defaultValue={start}
        />
      )}
    </label>
  )
}

/** The fields of the input, or one for its JSON. Files are dropped or pasted into the field of messages, or chosen. */
export function InputForm({
  fields,
  start,
  media,
}: {
  fields: readonly InputField[] | undefined
  start: StartTexts
  media: ChosenMedia
}) {
  if (fields === undefined)
    return (
      <div className={css['form']}>
        <textarea
          name="json"
          aria-label="Input as JSON"
          rows={8}
          spellCheck={false}
          defaultValue={start.json}
        />
      </div>
    )
  const pasted = (event: ClipboardEvent): void => {
    const files = [...event.clipboardData.files]
    if (files.length === 0) return
    event.preventDefault()
    media.add(files)
  }
  return (
    <div className={css['form']}>
      {fields.map((field) => {
        const text = start.fields.get(field.name) ?? ''
        if (field.kind !== 'messages') return <FieldOf key={field.name} field={field} start={text} />
        return (
          <div
            key={field.name}
            className={css['form']}
            onPaste={pasted}
            onDragOver={(event) => event.preventDefault()}
            onDrop={(event) => {
              if (event.dataTransfer.files.length === 0) return
              event.preventDefault()
              media.add([...event.dataTransfer.files])
            }}
          >
            <FieldOf field={field} start={text} />
            <MediaPicker label={`Files for ${field.name}`} media={media} />
          </div>
        )
      })}
    </div>
  )
}
