import type { SpanFilter } from '../../api/platform.gen.ts'
import { useSpanFilterChange } from '../../data/settings/server.ts'
import { Field, IconButton } from '../../parts/controls.tsx'
import { ChangeForm } from '../../parts/forms/change-form.tsx'
import { Dialog } from '../../parts/forms/dialog.tsx'
import css from './settings.module.css'

export interface FilteredProject {
  id: string
  name: string
  span_filters: readonly SpanFilter[]
}

const FIELDS = [
  { name: 'scope', label: 'Scope', placeholder: 'next.js' },
  { name: 'name', label: 'Name of the span', placeholder: 'GET /*' },
  { name: 'attribute', label: 'Attribute', placeholder: 'http.route' },
  { name: 'value', label: 'Value of the attribute', placeholder: '/health*' },
] as const

/** A filter as text: each of its properties with its value. */
function filterText(filter: SpanFilter): string {
  const parts = FIELDS.flatMap(({ name }) => (filter[name] === undefined ? [] : [`${name} ${filter[name]}`]))
  return parts.join(' · ')
}

/** Lists the span filters of a project, and removes or adds one. */
export function SpanFiltersDialog({ project, close }: { project: FilteredProject; close(): void }) {
  const change = useSpanFilterChange()
  const { id, span_filters: filters } = project
  const submit = (form: FormData): void => {
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    const given = FIELDS.flatMap(({ name }) => (text(name) === '' ? [] : [[name, text(name)]]))
    change.mutate({ id, filters: [...filters, Object.fromEntries(given) as SpanFilter] })
  }
  return (
    <Dialog title={`Spans that ${project.name} leaves out`} close={close}>
      {filters.length > 0 && (
        <ul className={css['filters']} aria-label="Filters">
          {filters.map((filter) => (
            <li key={filterText(filter)}>
              <code>{filterText(filter)}</code>
              <IconButton
                icon="remove"
                label={`Remove ${filterText(filter)}`}
                disabled={change.isPending}
                onClick={() => change.mutate({ id, filters: filters.filter((one) => one !== filter) })}
              />
            </li>
          ))}
        </ul>
      )}
      {/* With the next filter the fields are empty again. */}
      <ChangeForm
        key={filters.length}
        label="New filter"
        change={change}
        submit={submit}
        action="Add the filter"
        close={close}
      >
        {FIELDS.map(({ name, label, placeholder }) => (
          <label key={name}>
            {label}
            <Field name={name} maxLength={200} placeholder={placeholder} />
          </label>
        ))}
        <p className={`wide ${css['note']}`}>
          A span that has all of these is not kept and not counted; * stands for any text. Spans about models
          are always kept. Stored spans stay.
        </p>
      </ChangeForm>
    </Dialog>
  )
}
