import { useState } from 'react'
import { parseTyped } from '../../../api/typed-json.ts'
import { type Assistant, useDeploymentRead } from '../../../data/deployments/contents.ts'
import type { ReadMedia } from '../../../data/messages/media-block.ts'
import {
  type InputField,
  inputFields,
  inputOf,
  textsOfInput,
} from '../../../data/studio/input/input-fields.ts'
import { Button } from '../../../parts/controls.tsx'
import { Failure } from '../../../parts/states.tsx'
import { EarlierInputs } from './earlier.tsx'
import { InputForm, type StartTexts } from './input-form.tsx'
import { useChosenMedia } from './media-picker.tsx'
import { type ChosenSettings, MULTITASK, RunSettingsForm, typedSettings } from './run-settings.tsx'
import type { RunSettings, StudioSession } from '../session.ts'
import css from '../studio.module.css'

type Input = Record<string, unknown>

/** The input that was typed, by fields or as JSON. @throws JsonFault */
function typedInput(
  form: FormData,
  fields: readonly InputField[] | undefined,
  files: readonly ReadMedia[],
): Input {
  const text = (name: string): string => {
    const value = form.get(name)
    return typeof value === 'string' ? value : ''
  }
  if (fields === undefined) return parseTyped(text('json'), 'The input') as Input
  return inputOf(fields, (field) => text(`in.${field}`), files)
}

/**
 * The button that starts the run. While another run is active, a text beside the button names the effect on both runs.
 */
function RunButton({
  multitask,
  session: { isLoading, rights },
}: {
  multitask: ChosenSettings['multitaskStrategy']
  session: StudioSession
}) {
  const rule = MULTITASK.find(([word]) => word === multitask)?.[1] ?? ''
  return (
    <div className={css['actions']}>
      <Button type="submit" look="primary" disabled={rights.run !== undefined} title={rights.run}>
        Run
      </Button>
      <span className={css['note']} role="status">
        {isLoading && `A run is active: ${rule}`}
      </span>
    </div>
  )
}

const EMPTY: StartTexts = { fields: new Map(), json: '{}' }

/** Keeps the state of the input's form: fields or JSON, and the initial texts. */
function useInputForm(described: readonly InputField[] | undefined) {
  const [wantsJson, setJson] = useState(false)
  const [start, setStart] = useState(EMPTY)
  const [turn, setTurn] = useState(0)
  const fill = (input: Input): void => {
    const texts = described && textsOfInput(described, input)
    setJson(texts === undefined)
    setStart({ fields: texts ?? new Map(), json: JSON.stringify(input, null, 2) })
    setTurn(turn + 1)
  }
  return { isJson: wantsJson, setJson, fields: wantsJson ? undefined : described, start, turn, fill }
}

interface InputPanelProps {
  name: string
  assistant: Assistant
  session: StudioSession
  run: RunSettings
}

/** The form of the input, from the schema of the graph, or JSON; and the settings of the run. */
export function InputPanel({ name, assistant, session, run }: InputPanelProps) {
  const schemas = useDeploymentRead<{ input_schema?: unknown }>(
    name,
    `/assistants/${assistant.assistant_id}/schemas`,
  )
  const described = inputFields(schemas.data?.input_schema)
  const { isJson, setJson, fields, start, turn, fill } = useInputForm(described)
  const media = useChosenMedia()
  const [fault, setFault] = useState<unknown>()
  const [chosen, setChosen] = useState<ChosenSettings>({
    multitaskStrategy: 'enqueue',
    durability: 'async',
  })
  const submit = (form: HTMLFormElement): void => {
    if (session.rights.run !== undefined) return
    try {
      const data = new FormData(form)
      const input = typedInput(data, fields, media.files)
      session.submit(input, { ...typedSettings(data), ...run, ...chosen })
      media.clear()
      setFault(undefined)
    } catch (error) {
      setFault(error)
    }
  }
  return (
    <form
      className={css['panel']}
      aria-label="Input"
      onSubmit={(event) => {
        event.preventDefault()
        submit(event.currentTarget)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
        event.preventDefault()
        submit(event.currentTarget)
      }}
    >
      <div className={css['row']}>
        <h2>Input</h2>
        {described !== undefined && (
          <Button look="plain" aria-pressed={isJson} onClick={() => setJson(!isJson)}>
            As JSON
          </Button>
        )}
      </div>
      <EarlierInputs
        name={name}
        assistant={assistant.assistant_id}
        choose={(earlier) => fill(earlier.input)}
      />
      <InputForm key={turn} fields={fields} start={start} media={media} />
      <RunSettingsForm chosen={chosen} change={(next) => setChosen({ ...chosen, ...next })} />
      {fault !== undefined && <Failure error={fault} />}
      <RunButton multitask={chosen.multitaskStrategy} session={session} />
    </form>
  )
}
