import {
  isRemoveUIMessage,
  isUIMessage,
  type RemoveUIMessage,
  type UIMessage,
  uiMessageReducer,
} from '@langchain/langgraph-sdk/react-ui'

export type { UIMessage } from '@langchain/langgraph-sdk/react-ui'

/** Maximum number of components that a page shows, because each is a page of its own. */
const MOST_SHOWN = 20

/** Maximum number of components of a run that is active. */
const MOST_KEPT = 100

/** The components in the values of a thread. */
export interface UiMessages {
  /** The newest ones, in their order. */
  shown: readonly UIMessage[]
  /** Number of earlier ones. */
  left_out: number
}

function isWhole(item: unknown): item is UIMessage {
  if (!isUIMessage(item) || typeof item.id !== 'string' || typeof item.name !== 'string') return false
  return typeof item.props === 'object' && item.props !== null
}

/** Whether a custom event of a run adds, changes or removes a component. */
export function isUiEvent(event: unknown): event is UIMessage | RemoveUIMessage {
  return isUIMessage(event) ? isWhole(event) : isRemoveUIMessage(event)
}

/** The components of a state, `ui`, after an event; a state whose `ui` is something else stays as it is. */
export function withUiEvent(ui: unknown, event: UIMessage | RemoveUIMessage): unknown {
  if (ui !== undefined && !Array.isArray(ui)) return ui
  return uiMessageReducer((ui ?? []) as UIMessage[], event).slice(-MOST_KEPT)
}

/** Finds the components that a graph has sent: in any list of its state, because `push_ui_message` can name the key. */
export function uiMessagesOf(values: unknown): UiMessages {
  const lists = typeof values === 'object' && values !== null ? Object.values(values) : []
  const found = lists.flatMap((list) => (Array.isArray(list) ? list.filter(isWhole) : []))
  const shown = found.slice(-MOST_SHOWN)
  return { shown, left_out: found.length - shown.length }
}

/** Id of the message of the chat to which a component belongs; LangGraph for Python and for JavaScript name it differently. */
export function messageOf({ metadata }: UIMessage): unknown {
  return metadata?.['message_id'] ?? metadata?.['id']
}
