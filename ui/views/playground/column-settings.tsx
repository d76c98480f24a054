import { useState } from 'react'
import { type DraftColumn, type DraftTool, namedTool, toolOfChoice } from '../../data/playground/draft.ts'
import { secretNameFault } from '../../data/playground/secret-name.ts'
import type { KnownProvider } from '../../data/playground/queries.ts'
import { Select } from '../../parts/controls.tsx'
import { Fields } from '../../parts/forms/change-form.tsx'
import css from './playground.module.css'
import { TypedField, TypedText } from './typed.tsx'

interface SettingsProps {
  column: DraftColumn
  name: string
  provider: KnownProvider | undefined
  tools: readonly DraftTool[]
  /** Changes a typed text. */
  type(fields: Partial<DraftColumn>): void
  /** Draws the column again, after an address or a secret was typed. */
  left(): void
  change(fields: Partial<DraftColumn>): void
}

type NumberField = 'temperature' | 'top_p' | 'max_tokens' | 'seed'
const NUMBERS: readonly (readonly [NumberField, string])[] = [
  ['temperature', 'Temperature'],
  ['top_p', 'Top p'],
  ['max_tokens', 'Limit of tokens'],
  ['seed', 'Seed'],
]

const TOOL_CHOICES: readonly (readonly [DraftColumn['tool_choice'], string])[] = [
  ['auto', 'may call tools'],
  ['required', 'must call a tool'],
  ['none', 'calls no tool'],
]

/** The choices about tools: none, any, or one that must be called. */
function toolChoices(
  tools: readonly DraftTool[],
  chosen: DraftColumn['tool_choice'],
): (readonly [DraftColumn['tool_choice'], string])[] {
  const forced = toolOfChoice(chosen)
  const names = new Set([...tools.map(({ name }) => name.trim()), ...(forced === undefined ? [] : [forced])])
  names.delete('')
  return [...TOOL_CHOICES, ...[...names].map((name) => [namedTool(name), `must call ${name}`] as const)]
}

/** Counts the settings that differ from the model's own. */
function countSet({ temperature, top_p, max_tokens, seed, stop, extra, tool_choice }: DraftColumn): number {
  const texts = [temperature, top_p, max_tokens, seed, stop, extra]
  return texts.filter((text) => text.trim() !== '').length + (tool_choice === 'auto' ? 0 : 1)
}

function Parameters({ column, name, tools, type, change }: Omit<SettingsProps, 'provider' | 'left'>) {
  return (
    <>
      {NUMBERS.map(([field, title]) => (
        <label key={field}>
          {title}
          <TypedField
            label={`${name}, ${title}`}
            placeholder="–"
            text={column[field]}
            type={(text) => type({ [field]: text })}
          />
        </label>
      ))}
      <label>
        Stop at
        <TypedText
          label={`${name}, stop at, one in a line`}
          placeholder="one in a line"
          isCode
          text={column.stop}
          type={(stop) => type({ stop })}
        />
      </label>
      <label>
        Tools
        <Select<DraftColumn['tool_choice']>
          label={`${name}, tools`}
          value={column.tool_choice}
          options={toolChoices(tools, column.tool_choice)}
          onChange={(tool_choice) => change({ tool_choice })}
        />
      </label>
      <label className="wide">
        Further fields of the request, as JSON
        <TypedText
          label={`${name}, further fields`}
          isCode
          placeholder='{"reasoning_effort": "low"}'
          text={column.extra}
          type={(extra) => type({ extra })}
        />
      </label>
    </>
  )
}

function Address({ column, name, provider, type, left }: Omit<SettingsProps, 'change' | 'tools'>) {
  return (
    <label className="wide">
      Address of the API
      <TypedField
        label={`${name}, address of the API`}
        placeholder={provider?.base_url ?? 'http://127.0.0.1:11434/v1'}
        text={column.base_url}
        type={(base_url) => type({ base_url })}
        left={left}
      />
    </label>
  )
}

/** The name of a secret. A key itself is refused at once, and the field is emptied. */
function SecretName({ column, name, provider, type, left }: Omit<SettingsProps, 'change' | 'tools'>) {
  const [fault, setFault] = useState('')
  return (
    <>
      <TypedField
        label={`${name}, secret`}
        placeholder={provider?.secret ?? ''}
        text={column.secret}
        refuse={(text) => {
          const reason = secretNameFault(text)
          setFault(reason ?? '')
          return reason !== undefined
        }}
        type={(secret) => type({ secret })}
        left={left}
      />
      {fault !== '' && (
        <span className={css['bad']} role="alert">
          {fault}
        </span>
      )}
    </>
  )
}

/**
 * Parameters and address of a model. An API that is compatible with OpenAI's always needs an address, so the field is
 * visible then.
 */
export function ColumnSettings(props: SettingsProps) {
  const { column, name, provider, type, left } = props
  const count = countSet(column)
  const isOther = column.provider === 'openai-compatible'
  return (
    <>
      {isOther && (
        <Fields>
          <Address {...props} />
        </Fields>
      )}
      <details className={css['more']}>
        <summary>
          Parameters<span className={css['note']}>{count > 0 && ` ${count} set`}</span>
        </summary>
        <Fields>
          <Parameters {...props} />
          {!isOther && <Address {...props} />}
          <label>
            Name of the secret
            <SecretName {...{ column, name, provider, type, left }} />
          </label>
          <label>
            Traced as
            <TypedField
              label={`${name}, provider in the trace`}
              placeholder={isOther ? 'the host' : column.provider}
              text={column.provider_name}
              type={(provider_name) => type({ provider_name })}
            />
          </label>
        </Fields>
      </details>
    </>
  )
}
