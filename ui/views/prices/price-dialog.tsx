import { useState } from 'react'
import type { ModelPriceWrite } from '../../api/platform.gen.ts'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { usePriceChanges, usePricePreview } from '../../data/prices/queries.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import { readPreference } from '../../parts/preferences.ts'
import { type PriceFields, requestOf } from './form-fields.ts'
import { Preview } from './preview.tsx'
import css from './prices.module.css'

/** The open form: its initial values, and the price that it replaces. */
export interface Asked {
  fields: PriceFields
  edited?: OwnPrice
}

function readFields(form: FormData): PriceFields {
  const text = (name: keyof PriceFields): string => String(form.get(name) ?? '')
  return {
    name: text('name'),
    match_pattern: text('match_pattern'),
    provider: text('provider'),
    start_time: text('start_time'),
    prompt_token_threshold: text('prompt_token_threshold'),
    conditions: text('conditions'),
    input: text('input'),
    output: text('output'),
    input_parts: text('input_parts'),
    output_parts: text('output_parts'),
  }
}

function WhichFields({ fields }: { fields: PriceFields }) {
  return (
    <>
      <label>
        Name
        <Field name="name" required maxLength={256} defaultValue={fields.name} autoFocus />
      </label>
      <label>
        Provider, if only of one
        <Field name="provider" maxLength={128} defaultValue={fields.provider} />
      </label>
      <label className="wide">
        Pattern, a regular expression that the model matches
        <Field name="match_pattern" required maxLength={512} defaultValue={fields.match_pattern} />
      </label>
      <label>
        For runs from
        <Field name="start_time" type="datetime-local" step={1} defaultValue={fields.start_time} />
      </label>
      <label>
        For prompts with more tokens than
        <Field
          name="prompt_token_threshold"
          type="number"
          min={0}
          step={1}
          defaultValue={fields.prompt_token_threshold}
        />
      </label>
      <label className="wide">
        Only for calls with these conditions, one a line
        <textarea
          className={css['amount']}
          name="conditions"
          rows={2}
          placeholder="speed fast"
          defaultValue={fields.conditions}
        />
      </label>
    </>
  )
}

function AmountFields({ fields }: { fields: PriceFields }) {
  return (
    <>
      <label>
        Input, $ per million tokens
        <Field name="input" required inputMode="decimal" defaultValue={fields.input} />
      </label>
      <label>
        Output, $ per million tokens
        <Field name="output" required inputMode="decimal" defaultValue={fields.output} />
      </label>
      <label>
        Parts of the input, one a line
        <textarea
          className={css['amount']}
          name="input_parts"
          rows={3}
          placeholder="cache_read 0.25"
          defaultValue={fields.input_parts}
        />
      </label>
      <label>
        Parts of the output, one a line
        <textarea
          className={css['amount']}
          name="output_parts"
          rows={3}
          placeholder="reasoning 8"
          defaultValue={fields.output_parts}
        />
      </label>
    </>
  )
}

/** The form of a new price, or of one that is replaced. */
export function PriceDialog({ asked: { fields, edited }, close }: { asked: Asked; close(): void }) {
  const { save } = usePriceChanges()
  const preview = usePricePreview()
  const [fault, setFault] = useState<string>()
  /** The request of the form. If the form has a fault, shows it and returns undefined. */
  const read = (form: FormData): ModelPriceWrite | undefined => {
    const request = requestOf(readFields(form), edited, readPreference('zone'))
    setFault('fault' in request ? request.fault : undefined)
    return 'fault' in request ? undefined : request.body
  }
  const submit = (form: FormData): void => {
    const body = read(form)
    const replaced = edited && { id: edited.id, override: form.has('override') }
    if (body) save.mutate({ ...replaced, body }, { onSuccess: close })
  }
  const showPreview = (form: HTMLFormElement): void => {
    if (!form.reportValidity()) return
    const price = read(new FormData(form))
    if (price) preview.mutate({ price, replaces: edited?.id ?? null })
  }
  return (
    <Dialog
      title={edited === undefined ? 'A price of your own' : `Edit the price ${edited.name}`}
      close={close}
    >
      <ChangeForm
        label="Price"
        change={save}
        managed={edited?.managed}
        submit={submit}
        close={close}
        buttons={
          <Button
            disabled={preview.isPending}
            onClick={({ currentTarget }) => currentTarget.form && showPreview(currentTarget.form)}
          >
            What would change
          </Button>
        }
      >
        <WhichFields fields={fields} />
        <AmountFields fields={fields} />
        {fault !== undefined && (
          <p className={`wide ${css['fault']}`} role="alert">
            {fault}
          </p>
        )}
        <div className="wide">
          <Preview asked={preview} range="In the last 30 days:" />
        </div>
      </ChangeForm>
    </Dialog>
  )
}
