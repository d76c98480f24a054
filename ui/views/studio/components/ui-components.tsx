import { useDeployment } from '../../../data/deployments/deployments.ts'
import { useDeploymentRead } from '../../../data/deployments/contents.ts'
import type { FullState } from '../../../data/studio/step.ts'
import type { UIMessage } from '../../../data/studio/components/ui-messages.ts'
import { JsonView } from '../../../parts/json/json-view.tsx'
import css from '../studio.module.css'
import { ComponentFrame, type ComponentThread } from './component-frame.tsx'

/** The deployment and the graph that have the components, and the thread that shows them. */
export interface UiPlace {
  name: string
  graph: string
  thread: string | undefined
}

/** Without values of the thread, the newest ones are read. */
interface UiComponentsProps extends UiPlace, ComponentThread {
  shown: readonly UIMessage[]
}

/** UI components that a graph has sent, each in a frame. */
export function UiComponents({ shown, ...rest }: UiComponentsProps) {
  return shown.length === 0 ? null : <Frames shown={shown} {...rest} />
}

function Frames({ name, graph, thread, shown, values, ...rest }: UiComponentsProps) {
  const { data } = useDeployment(name)
  const isOn = values === undefined && thread !== undefined
  const newest = useDeploymentRead<FullState>(name, `/threads/${thread ?? ''}/state`, { isOn })
  if (data === undefined) return null
  const origin = data.weir.pages_url
  return shown.map((message) => (
    <figure key={message.id} className={css['component']}>
      <figcaption className={css['note']}>
        Component <b>{message.name}</b>
        {origin === null && ': set DEPLOYMENTS_ORIGIN to show it'}
      </figcaption>
      {origin === null ? (
        <JsonView value={message.props} />
      ) : (
        <ComponentFrame
          page={`${origin}/ui/${encodeURIComponent(graph)}`}
          message={message}
          values={values ?? newest.data?.values}
          {...rest}
        />
      )}
    </figure>
  ))
}
