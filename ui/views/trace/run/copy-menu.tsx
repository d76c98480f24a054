import { lazy, Suspense, useId, useRef, useState } from 'react'
import type { ReadRun } from '../../../data/runs.ts'
import { Button } from '../../../parts/controls.tsx'
import css from './run.module.css'

const CopyItems = lazy(() => import('./copy-items.tsx').then((file) => ({ default: file.CopyItems })))

/** The menu with the ways to use a run in other programs. */
export function CopyMenu({ run, isShared }: { run: ReadRun; isShared: boolean }) {
  const id = useId()
  const menu = useRef<HTMLDivElement>(null)
  const [wasOpen, setOpen] = useState(false)
  return (
    <>
      <Button look="plain" icon="copy" popoverTarget={id}>
        Copy as …
      </Button>
      <div
        ref={menu}
        id={id}
        popover="auto"
        className={css['menu']}
        role="group"
        aria-label="Copy as …"
        onToggle={() => setOpen(true)}
      >
        <Suspense>
          {wasOpen && <CopyItems run={run} isShared={isShared} close={() => menu.current?.hidePopover()} />}
        </Suspense>
      </div>
    </>
  )
}
