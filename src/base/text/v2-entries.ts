/** Prefix of the names of log entries that streams of v1 do not show under these names. */
export const V2_ONLY = 'v2/'

/**
 * Names of LangGraph's own events of protocol v2 in a thread's log; `|` and the namespace follow. All other events have
 * the names and shapes of the stream modes of v1.
 */
export const V2_ENTRIES = {
  /**
   * `{"id"?,"role"?,"node"?,"data","metadata"?,"tail"?}`: id and role of a message; one of its events, in the form for
   * clients; at its start, the metadata of mode `messages`; and the text that the delta adds to the arguments of a tool
   * call.
   */
  messages: 'v2/messages',
  /** A subgraph or a node begins or ends. */
  lifecycle: 'v2/lifecycle',
  /** `{"id","parent_id"?,"step","source"}` */
  checkpoints: 'v2/checkpoints',
  /** The data of mode `checkpoints` of v1, for streams of v1 only. */
  states: 'v2/states',
  /** `{"name","payload"}`: data of a channel of one of the graph's transformers. */
  custom: 'v2/custom',
} as const
