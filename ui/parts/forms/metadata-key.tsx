import { Field } from '../controls.tsx'

/** Asks for a key of the metadata, by which figures are grouped. */
export function MetadataKey({ value, choose }: { value: string | undefined; choose(key: string): void }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const asked = String(new FormData(event.currentTarget).get('key') ?? '').trim()
        if (asked !== '') choose(asked)
      }}
    >
      <Field name="key" aria-label="Key of the metadata" placeholder="Key, then Enter" defaultValue={value} />
    </form>
  )
}
