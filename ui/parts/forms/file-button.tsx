import { useRef } from 'react'
import { Button } from '../controls.tsx'

/** Opens the dialog of the browser that chooses files of the types `accept`; `name` is for screen readers. */
export function FileButton({
  name,
  accept,
  add,
}: {
  name: string
  accept: string
  add(files: readonly File[]): void
}) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={accept}
        aria-label={name}
        onChange={({ target }) => {
          add([...(target.files ?? [])])
          target.value = ''
        }}
      />
      <Button look="plain" icon="plus" onClick={() => input.current?.click()}>
        File
      </Button>
    </>
  )
}
