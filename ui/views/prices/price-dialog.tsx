import { type FormEvent, useState } from 'react'
import type { ModelPriceWrite } from '../../api/platform.gen.ts'
import type { OwnPrice } from '../../data/prices/own-price.ts'
import { usePriceChanges, usePricePreview } from '../../data/prices/queries.ts'
import { Button, Field } from '../../parts/controls.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { readPreference } from '../../parts/preferences.ts'
import { Failure } from '../../parts/states.tsx'
import { type PriceFields, requestOf } from './form-fields.ts'
import { Preview } from './preview.tsx'
import css from './prices.module.css'

/** The form that is open: what it begins with, and the price that it replaces. */
export interface Asked {
  fields: PriceFields
  edited?: OwnPrice
}

function readFields(element: HTMLFormElement): PriceFields {
  const form = new FormData(element)
  const text = (name: keyof PriceFields): string => String(form.get(name) ?? '')
  return {
    name: text('name'),
    match_pattern: text('match_pattern'),
    provider: text('provider'),
    start_time: text('start_time'),
    prompt_token_threshold: text('prompt_token_threshold'),
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
      <label className={css['wide']}>
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
          name="input_parts"
          rows={3}
          placeholder="cache_read 0.25"
          defaultValue={fields.input_parts}
        />
      </label>
      <label>
        Parts of the output, one a line
        <textarea name="output_parts" rows={3} placeholder="reasoning 8" defaultValue={fields.output_parts} />
      </label>
    </>
  )
}

/** The form of a new price, or of one that is replaced. */
export function PriceDialog({ asked: { fields, edited }, close }: { asked: Asked; close(): void }) {
  const { save } = usePriceChanges()
  const preview = usePricePreview()
  const [fault, setFault] = useState<string>()
  /** The request of the form; undefined after its fault is shown. */
  const read = (form: HTMLFormElement): ModelPriceWrite | undefined => {
    const request = requestOf(readFields(form), edited, readPreference('zone'))
    setFault('fault' in request ? request.fault : undefined)
    return 'fault' in request ? undefined : request.body
  }
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const body = read(event.currentTarget)
    if (body) save.mutate({ id: edited?.id, body }, { onSuccess: close })
  }
  const showPreview = (form: HTMLFormElement): void => {
    if (!form.reportValidity()) return
    const price = read(form)
    if (price) preview.mutate({ price, replaces: edited?.id ?? null })
  }
  return (
    <Dialog
      title={edited === undefined ? 'A price of your own' : `Edit the price ${edited.name}`}
      close={close}
    >
      <form className={css['form']} aria-label="Price" onSubmit={submit}>
        <WhichFields fields={fields} />
        <AmountFields fields={fields} />
        {fault !== undefined && (
          <p className={`${css['wide']} ${css['fault']}`} role="alert">
            {fault}
          </p>
        )}
        {save.error !== null && (
          <div className={css['wide']}>
            <Failure error={save.error} />
          </div>
        )}
        <div className={css['wide']}>
          <Preview asked={preview} range="In the last 30 days:" />
        </div>
        <div className={`${css['wide']} ${css['actions']}`}>
          <Button type="submit" look="primary" disabled={save.isPending}>
            Save
          </Button>
          <Button
            disabled={preview.isPending}
            onClick={({ currentTarget }) => currentTarget.form && showPreview(currentTarget.form)}
          >
            What would change
          </Button>
          <Button look="plain" onClick={close}>
            Cancel
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
