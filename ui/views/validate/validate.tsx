import { type DragEvent, type RefObject, useRef, useState } from 'react'
import { type TextPlace, textPlaceOf } from '../../data/ingest/text-places.ts'
import { type Checked, useValidation } from '../../data/ingest/validation.ts'
import { Button, Key } from '../../parts/controls.tsx'
import { bytesText } from '../../parts/format/numbers.ts'
import { useKeys } from '../../parts/keyboard/keys.ts'
import { Failure, Skeleton } from '../../parts/states.tsx'
import { ValidationResults } from './report.tsx'
import css from './validate.module.css'

const EXAMPLE = `{
  "id": "0199a0de-0000-7000-8000-000000000001",
  "name": "ChatOpenAI",
  "run_type": "llm",
  "start_time": "2026-11-22T10:00:00Z",
  "end_time": "2026-11-22T10:00:01Z",
  "inputs": { "messages": [{ "role": "user", "content": "How warm is it in Paris?" }] },
  "outputs": { "messages": [{ "role": "asistant", "content": "18 °C" }] },
  "extra": { "metadata": { "ls_provider": "openai", "ls_model_name": "gpt-4.1-mini" } }
}`
/** Larger files are checked without being shown. */
const MOST_SHOWN_BYTES = 2_000_000
/** Lines that stay visible above a selected value. */
const LINES_ABOVE = 4

/** Text when the bytes are UTF-8 and few enough to be edited; undefined for others. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.length > MOST_SHOWN_BYTES) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** A file that the editor cannot show; it is checked without changes. */
interface Opened {
  name: string
  bytes: Uint8Array<ArrayBuffer>
}

function fill(field: HTMLTextAreaElement | null, text: string): void {
  if (field !== null) field.value = text
}

function select(field: HTMLTextAreaElement, { start, end }: TextPlace): void {
  field.focus()
  field.setSelectionRange(start, end)
  const line = field.value.slice(0, start).split('\n').length
  field.scrollTop = (line - LINES_ABOVE) * Number.parseFloat(getComputedStyle(field).lineHeight)
}

type TextArea = RefObject<HTMLTextAreaElement | null>

/** The text, or the opened file that replaces it, and the functions of the buttons. */
function useRuns(area: TextArea, check: (checked: Checked) => void) {
  const [opened, setOpened] = useState<Opened>()
  const setText = (text: string): void => {
    setOpened(undefined)
    fill(area.current, text)
  }
  return {
    opened,
    setText,
    edited: () => setOpened(undefined),
    check() {
      const checked = opened?.bytes ?? area.current?.value ?? ''
      if (checked.length > 0) check(checked)
    },
    async open(file: File | undefined) {
      if (file === undefined) return
      const bytes = new Uint8Array(await file.arrayBuffer())
      const text = textOf(bytes)
      setText(text ?? '')
      if (text === undefined) setOpened({ name: file.name, bytes })
      check(text ?? bytes)
    },
    show(run_id: string, path: string) {
      const field = area.current
      const place = field === null ? undefined : textPlaceOf(field.value, run_id, path)
      if (field === null || place === undefined) return
      select(field, place)
    },
  }
}

type Runs = ReturnType<typeof useRuns>

function Buttons({ runs }: { runs: Runs }) {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <div className={css['buttons']}>
      <Button look="primary" onClick={runs.check}>
        Check
      </Button>
      <Key>⌘↵</Key>
      <Button onClick={() => picker.current?.click()}>Open a file</Button>
      <Button look="plain" onClick={() => runs.setText(EXAMPLE)}>
        Insert an example
      </Button>
      <input
        ref={picker}
        type="file"
        hidden
        aria-label="File"
        onChange={({ target }) => void runs.open(target.files?.[0])}
      />
    </div>
  )
}

function Editor({ runs, area }: { runs: Runs; area: TextArea }) {
  const [isOver, setOver] = useState(false)
  const over = (event: DragEvent, isNow: boolean): void => {
    event.preventDefault()
    setOver(isNow)
  }
  return (
    <div
      className={`${css['text']} ${isOver ? css['over'] : ''}`}
      onDragOver={(event) => over(event, true)}
      onDragLeave={(event) => over(event, false)}
      onDrop={(event) => {
        over(event, false)
        void runs.open(event.dataTransfer.files[0])
      }}
    >
      <textarea
        ref={area}
        aria-label="Runs"
        spellCheck={false}
        placeholder="Paste runs, or drop a file here"
        onInput={runs.edited}
      />
      {runs.opened !== undefined && (
        <p className={css['note']}>
          {runs.opened.name}, {bytesText(runs.opened.bytes.length)}: checked as it is, not shown.
        </p>
      )}
      <Buttons runs={runs} />
    </div>
  )
}

/** Checks pasted or opened runs as ingest would. */
export function Validate() {
  const validation = useValidation()
  const area = useRef<HTMLTextAreaElement>(null)
  const runs = useRuns(area, validation.mutate)
  useKeys({ 'Mod+Enter': runs.check })
  return (
    <div className={css['page']}>
      <h1>Validate</h1>
      <p className={css['note']}>
        What Weir would make of logged runs. Nothing is stored. A run, a list or batch of runs, NDJSON, a
        multipart body or an OTLP export.
      </p>
      <div className={css['sides']}>
        <Editor runs={runs} area={area} />
        <div aria-live="polite">
          {validation.isPending && <Skeleton label="Checking" />}
          {validation.isError && <Failure error={validation.error} />}
          {validation.data !== undefined && (
            <ValidationResults
              report={validation.data}
              show={runs.opened === undefined ? runs.show : undefined}
            />
          )}
          {validation.isIdle && (
            <p className={css['note']}>
              The report appears here: the four checks of each model call with what mends them, and every
              issue with its place. <code>weir validate</code> prints the same in a terminal.
            </p>
          )}
        </div>
      </div>
    </div>
  )
}
