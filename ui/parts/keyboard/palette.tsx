import { useState } from 'react'
import { call } from '../../api/call.ts'
import { navigate } from '../../router/location.ts'
import { Combobox, type ComboOption } from '../forms/combobox.tsx'
import { Key } from '../controls.tsx'
import { Dialog } from '../forms/dialog.tsx'
import css from '../forms/dialog.module.css'

interface Target {
  path: string
  name?: string
  key?: string
}

const ID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i

/** Opens the run with this id, otherwise the trace, otherwise the project. */
async function openId(id: string): Promise<void> {
  const run = await call('GET /api/v1/runs/{id}', { params: { id } }).catch(() => undefined)
  if (run !== undefined) return navigate(`/traces/${run.trace_id}?run=${run.id}`)
  const project = await call('GET /api/v1/sessions/{id}', { params: { id } }).catch(() => undefined)
  navigate(project === undefined ? `/traces/${id}` : `/projects/${id}`)
}

/** Finds pages by name, and runs, traces and projects by id. */
export function Palette({ pages, close }: { pages: readonly Target[]; close(): void }) {
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const opened = (open: () => unknown) => (): void => {
    close()
    void open()
  }
  const options: ComboOption[] = pages.flatMap(({ path, name, key }) =>
    name === undefined || !name.toLowerCase().includes(wanted)
      ? []
      : [
          {
            id: path,
            text: name,
            hint: key !== undefined && <Key>g {key}</Key>,
            choose: opened(() => navigate(path)),
          },
        ],
  )
  if (ID.test(wanted))
    options.unshift({
      id: 'id',
      text: `Open ${wanted}`,
      hint: 'run, trace or project',
      choose: opened(() => openId(wanted)),
    })
  const classes = { input: css['input'], options: css['options'], option: css['option'], hint: css['hint'] }
  return (
    <Dialog title="Find" isBare close={close}>
      <Combobox
        label="A page, or the id of a run, trace or project"
        placeholder="A page, or the id of a run, trace or project"
        value={text}
        options={options}
        classes={classes}
        change={setText}
        firstIsMarked
      />
    </Dialog>
  )
}
