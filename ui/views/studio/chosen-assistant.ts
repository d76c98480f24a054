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

/**
 * The assistant with an id, or the first one of a graph with this name. An assistant that is not in the list is read.
 * Undefined without an id.
 */
function useAssistant(name: string, id: string, listed: readonly Assistant[] | undefined) {
  const inList = listed && find(listed, id)
  const read = useDeploymentRead<Assistant>(name, `/assistants/${encodeURIComponent(id)}`, {
    isOn: id !== '' && listed !== undefined && inList === undefined,
  })
  return { found: inList ?? read.data, isReading: read.isLoading }
}

export interface AssistantChoice {
  name: string
  thread: string | undefined
  /** Id of an assistant or name of a graph from the address, '' where it has none. */
  wanted: string
  /** The pages of the list that were read; undefined before the first one. */
  listed: readonly Assistant[] | undefined
}

/**
 * The assistant that Studio shows: the wanted one, else the one of the thread's last run, else the first one of the
 * list. It stays while the thread is read, so that a run that has created the thread continues on this page. Undefined
 * while the assistant is not known. `isGone`: the wanted one cannot be read.
 */
export function useChosenAssistant({ name, thread, wanted, listed }: AssistantChoice): {
  chosen: Assistant | undefined
  isGone: boolean
} {
  const [last, setLast] = useState<Assistant>()
  const asked = useAssistant(name, wanted, listed)
  const isGone = wanted !== '' && listed !== undefined && asked.found === undefined && !asked.isReading
  const read = useDeploymentRead<DeploymentThread>(name, `/threads/${thread ?? ''}`, {
    isOn: thread !== undefined && (wanted === '' || isGone),
  })
  const metadata = read.data?.metadata
  const own = useAssistant(name, textOf(metadata?.['assistant_id']), listed)
  if (listed === undefined) return { chosen: undefined, isGone }
  const isReading = asked.isReading || read.isLoading || own.isReading
  const ofThread = own.found ?? find(listed, textOf(metadata?.['graph_id']))
  const named = asked.found ?? (isReading ? undefined : ofThread)
  const kept = last && (find(listed, last.assistant_id) ?? last)
  const chosen = named ?? kept ?? (isReading ? undefined : listed[0])
  if (chosen?.assistant_id !== last?.assistant_id) setLast(chosen)
  return { chosen, isGone }
}
