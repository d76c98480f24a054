/** From the server to the process that bundles UI components. */
export interface ToUiHost {
  type: 'open'
  /** The folder of langgraph.json. */
  folder: string
  /** Module with the components of a graph, by graph; relative to the folder. */
  ui: Record<string, string>
  /** Packages that the page brings, besides React and the SDK. */
  shared: string[]
  /** Bundles again what changes. */
  watch: boolean
}

/** And back, for each graph. */
export type FromUiHost =
  /** Parts: the content of each file. */
  | { type: 'bundled'; graph_id: string; names: string[] }
  | { type: 'failed'; graph_id: string; message: string }
