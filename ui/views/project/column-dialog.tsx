import { useState } from 'react'
import { Button, Field, IconButton } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { metadataColumn, otherColumns, USUAL_COLUMNS } from './column-ids.ts'
import { columnOf } from './columns.tsx'
import css from './project.module.css'

function nameOf(id: string): string {
  const { name, title } = columnOf(id)
  return name || title
}

function Chosen({ ids, change }: { ids: readonly string[]; change(ids: readonly string[]): void }) {
  const move = (place: number, by: number): void => {
    const next = [...ids]
    const [id] = next.splice(place, 1)
    if (id !== undefined) next.splice(place + by, 0, id)
    change(next)
  }
  return (
    <ol className={css['choices']} aria-label="Shown columns">
      {ids.map((id, place) => (
        <li key={id}>
          <span title={columnOf(id).title}>{nameOf(id)}</span>
          <IconButton
            icon="up"
            label={`${nameOf(id)} further left`}
            disabled={place === 0}
            onClick={() => move(place, -1)}
          />
          <IconButton
            icon="fold"
            label={`${nameOf(id)} further right`}
            disabled={place === ids.length - 1}
            onClick={() => move(place, 1)}
          />
          <IconButton
            icon="close"
            label={`Hide ${nameOf(id)}`}
            disabled={ids.length === 1}
            onClick={() => change(ids.filter((_, at) => at !== place))}
          />
        </li>
      ))}
    </ol>
  )
}

/** Chooses the columns of the list and their order. */
export function ColumnDialog({
  ids,
  metadataKeys,
  change,
  close,
}: {
  ids: readonly string[]
  metadataKeys: readonly string[]
  change(ids: readonly string[]): void
  close(): void
}) {
  const [key, setKey] = useState('')
  const add = (id: string): void => change([...ids, id])
  return (
    <Dialog title="Columns" close={close}>
      <Chosen ids={ids} change={change} />
      <div className={css['offers']} role="group" aria-label="Columns to add">
        {otherColumns(ids, metadataKeys).map((id) => (
          <Button key={id} icon="plus" title={columnOf(id).title} onClick={() => add(id)}>
            {nameOf(id)}
          </Button>
        ))}
      </div>
      <form
        className={css['offers']}
        onSubmit={(event) => {
          event.preventDefault()
          const id = metadataColumn(key.trim())
          if (key.trim() !== '' && !ids.includes(id)) add(id)
          setKey('')
        }}
      >
        <Field
          aria-label="Key of the metadata"
          placeholder="Another key of the metadata"
          value={key}
          onChange={({ target }) => setKey(target.value)}
        />
        <Button type="submit">Add</Button>
        <Button look="plain" onClick={() => change(USUAL_COLUMNS)}>
          Back to the default columns
        </Button>
      </form>
    </Dialog>
  )
}
