import { keepPreviousData, useQuery } from '@tanstack/react-query'
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

function useNamed(text: string) {
  return useQuery({
    queryKey: ['palette', text],
    queryFn: async ({ signal }) => (await import('./find-named.ts')).findNamed(text, signal),
    enabled: text !== '',
    placeholderData: keepPreviousData,
  })
}

/** Finds pages, projects, deployments, models, members and threads by name, and runs, traces and projects by id. */
export function Palette({ pages, close }: { pages: readonly Target[]; close(): void }) {
  const [text, setText] = useState('')
  const wanted = text.trim().toLowerCase()
  const named = useNamed(wanted)
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
  if (wanted !== '') {
    for (const { id, name, kind, path, found } of named.data ?? [])
      if (found !== undefined || name.toLowerCase().includes(wanted))
        options.push({
          id,
          text: name,
          hint: found === undefined || found === '' ? kind : `${kind} · ${found}`,
          choose: opened(async () => navigate(typeof path === 'string' ? path : await path())),
        })
  }
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
        label="A name or an id"
        placeholder="A page, project, deployment, model, member or thread, or an id"
        value={text}
        options={options}
        classes={classes}
        change={setText}
        firstIsMarked
      />
      {options.length === 0 && !named.isFetching && (
        <p className={css['body']} role="status">
          Nothing found: no page, project, deployment, model or member has “{text.trim()}” in its name, and no
          thread of the last 30 days contains it.
        </p>
      )}
    </Dialog>
  )
}
