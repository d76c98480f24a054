import { useState } from 'react'
import { type Assistant, type DeploymentThread, useDeploymentRead } from '../../data/deployments/contents.ts'

/** The assistant of this id, else the first one of the graph with this name. */
function find(assistants: readonly Assistant[], wanted: string): Assistant | undefined {
  return (
    assistants.find(({ assistant_id }) => assistant_id === wanted) ??
    assistants.find(({ graph_id }) => graph_id === wanted)
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

export interface AssistantChoice {
  name: string
  thread: string | undefined
  /** Id of an assistant or name of a graph from the address, '' where it has none. */
  wanted: string
  /** The first page of the list; undefined while it is loading. */
  listed: readonly Assistant[] | undefined
}

/**
 * The assistant that Studio shows: the wanted one, else the one of the thread's last run, else the first one of the list.
 * It stays while the thread is read, so that the run that made the thread goes on in this page. Undefined while the
 * assistant is not known.
 */
export function useChosenAssistant({ name, thread, wanted, listed }: AssistantChoice): Assistant | undefined {
  const [last, setLast] = useState<Assistant>()
  const read = useDeploymentRead<DeploymentThread>(name, `/threads/${thread ?? ''}`, {
    isOn: wanted === '' && thread !== undefined,
  })
  const metadata = read.data?.metadata
  const id = wanted === '' ? textOf(metadata?.['assistant_id']) : wanted
  const isListed = listed === undefined || find(listed, id) !== undefined
  const unlisted = useDeploymentRead<Assistant>(name, `/assistants/${encodeURIComponent(id)}`, {
    isOn: id !== '' && !isListed,
  })
  if (listed === undefined) return undefined
  const isReading = read.isLoading || unlisted.isLoading
  const named = isReading
    ? undefined
    : (find(listed, id) ?? unlisted.data ?? find(listed, textOf(metadata?.['graph_id'])))
  const kept = last && (find(listed, last.assistant_id) ?? last)
  const chosen = named ?? kept ?? (isReading ? undefined : listed[0])
  if (chosen?.assistant_id !== last?.assistant_id) setLast(chosen)
  return chosen
}
