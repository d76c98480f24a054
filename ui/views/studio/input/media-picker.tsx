import { useState } from 'react'
import type { ReadMedia } from '../../../data/messages/media-block.ts'
import { CHOSEN_TYPES, mediaBlockOf } from '../../../data/messages/media-file.ts'
import { Media } from '../../../parts/chat/media.tsx'
import { IconButton } from '../../../parts/controls.tsx'
import { FileButton } from '../../../parts/forms/file-button.tsx'
import css from '../studio.module.css'

/** The files that go with the next message. */
export interface ChosenMedia {
  files: readonly ReadMedia[]
  fault: string
  add(files: readonly File[]): void
  remove(file: ReadMedia): void
  clear(): void
}

/** Reads files, and shows an error for those that cannot be read. */
export function useChosenMedia(): ChosenMedia {
  const [files, setFiles] = useState<readonly ReadMedia[]>([])
  const [fault, setFault] = useState('')
  const read = async (chosen: readonly File[]): Promise<void> => {
    setFault('')
    try {
      const blocks = await Promise.all(chosen.map(mediaBlockOf))
      setFiles((before) => [...before, ...blocks])
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }
  return {
    files,
    fault,
    add: (chosen) => void read(chosen),
    remove: (file) => setFiles((before) => before.filter((one) => one !== file)),
    clear: () => setFiles([]),
  }
}

/** Chooses pictures, sounds and other files for a message, and shows them. */
export function MediaPicker({
  label,
  media: { files, fault, add, remove },
}: {
  label: string
  media: ChosenMedia
}) {
  return (
    <div className={css['media']}>
      <FileButton name={label} accept={CHOSEN_TYPES} add={add} />
      {files.map((file, place) => (
        <span key={`${place}${file.base64.length}`} className={css['file']}>
          <Media block={{ ...file }} />
          <IconButton icon="close" label={`Remove file ${place + 1}`} onClick={() => remove(file)} />
        </span>
      ))}
      {fault !== '' && (
        <p className={css['bad']} role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}
