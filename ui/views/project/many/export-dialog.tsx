import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { EXPORT_FORMATS, MOST_EXPORTED, readRunFile } from '../../../data/list/many-runs.ts'
import type { ListedRun, RunQuery } from '../../../data/run-pages.ts'
import { Select } from '../../../parts/controls.tsx'
import { ChangeForm } from '../../../parts/forms/change-form.tsx'
import { Dialog } from '../../../parts/forms/dialog.tsx'
import { countText } from '../../../parts/format/numbers.ts'
import { saveFile } from '../../../parts/save-file.ts'
import css from './many.module.css'

const NAMES = {
  csv: 'CSV, for spreadsheets',
  jsonl: 'JSON lines, with every field',
  parquet: 'Parquet, for DuckDB, pandas and others',
} as const

/** Saves the runs of a list, or the selected ones, as a file. */
export function ExportDialog({
  query,
  runs = [],
  close,
}: {
  query: RunQuery
  /** The selected runs; empty for all runs of the list. */
  runs?: readonly ListedRun[]
  close(): void
}) {
  const [format, setFormat] = useState<(typeof EXPORT_FORMATS)[number]>('csv')
  const [payloads, setPayloads] = useState(false)
  const change = useMutation({ mutationFn: readRunFile })
  const noun = query.isRoot ? 'traces' : 'runs'
  const title = runs.length > 0 ? `Export ${runs.length} selected ${noun}` : `Export the ${noun} of this list`
  const submit = (): void =>
    change.mutate(
      { query, ids: runs.map(({ id }) => id), format, payloads },
      {
        onSuccess: (file) => {
          saveFile(`${noun}_${new Date().toISOString().slice(0, 10)}.${format}`, file)
          close()
        },
      },
    )
  return (
    <Dialog title={title} close={close}>
      <ChangeForm
        label={title}
        change={change}
        submit={submit}
        action={change.isPending ? 'Reading …' : 'Save the file'}
        close={close}
      >
        <label>
          Form
          <Select<(typeof EXPORT_FORMATS)[number]>
            label="Form"
            value={format}
            options={EXPORT_FORMATS.map((one) => [one, NAMES[one]] as const)}
            onChange={setFormat}
          />
        </label>
        <label className="wide">
          <input type="checkbox" checked={payloads} onChange={({ target }) => setPayloads(target.checked)} />{' '}
          Whole inputs and outputs
        </label>
        <p className={`wide ${css['note']}`}>
          {payloads
            ? 'Without this, inputs and outputs are their first 500 characters. '
            : 'Inputs and outputs are their first 500 characters. '}
          A file has at most {countText(payloads ? MOST_EXPORTED.whole : MOST_EXPORTED.lean)} {noun}, the
          newest first. Programs read it at <code>GET /api/v1/runs/export</code>.
        </p>
      </ChangeForm>
    </Dialog>
  )
}
